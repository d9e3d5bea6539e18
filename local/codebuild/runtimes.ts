import { existsSync, realpathSync } from "node:fs";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { runProcessGroup } from "../process/run.ts";

export interface RuntimeHome {
  /** Folders to put on PATH, first found first. */
  path: string[];
  /** The runtime's own program. */
  program: string;
  /** A warning for the user if the runtime is not exactly the requested version. */
  warning?: string;
}

/** The runtime is not available on this machine. */
export class RuntimeMissing extends Error {}

const systemPath = ["/usr/local/bin", "/usr/bin", "/bin"];

/** PATH of a local build or app: its runtime, `more`, then the system folders. */
export function searchPath(home: RuntimeHome, ...more: string[]): string {
  return [...home.path, ...more, ...systemPath].join(delimiter);
}

function findOnPath(program: string, folders: readonly string[]): string | undefined {
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path));
}

const ownPath = () => (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");

/** The folder of npm; folders in node_modules, which npm adds to PATH, are skipped. */
function npmFolder(): string[] {
  const npm = findOnPath(
    "npm",
    ownPath().filter((folder) => !folder.includes("node_modules")),
  );
  return npm ? [dirname(npm)] : [];
}

export interface Runtimes {
  node(major: string, put: (line: string) => void, signal: AbortSignal): Promise<RuntimeHome>;
  python(version: string): Promise<RuntimeHome>;
}

/** Finds the runtimes of this machine; another Node.js release line is installed from npm once and kept in `dir`. */
export function createRuntimes(dir: string): Runtimes {
  const fetching = new Map<string, { done: Promise<void>; waiting: number; abort: AbortController }>();

  async function fetchNode(
    major: string,
    target: string,
    put: (line: string) => void,
    signal: AbortSignal,
  ): Promise<void> {
    put(`Downloading Node.js ${major} from npm. This is done only once.`);
    const temporary = `${target}.${process.pid}.new`;
    await rm(temporary, { recursive: true, force: true });
    await mkdir(temporary, { recursive: true });
    const result = await runProcessGroup(
      "npm",
      ["install", "--no-audit", "--no-fund", "--no-save", "--prefix", temporary, `node@${major}`],
      {
        cwd: temporary,
        env: {
          PATH: [dirname(process.execPath), ...npmFolder(), ...systemPath].join(delimiter),
          HOME: homedir(),
          ...certificates(),
        },
        timeoutMs: 300_000,
        signal,
        onOutput: (_, chunk) => put(chunk.toString("utf8").trimEnd()),
      },
    );
    if (result.exitCode !== 0) throw new RuntimeMissing(`Node.js ${major} could not be downloaded from npm.`);
    await rm(target, { recursive: true, force: true });
    await rename(temporary, target);
  }

  /** Builds that need the same release line share one download; it is canceled when the last of them is canceled. */
  async function fetchShared(
    major: string,
    target: string,
    put: (line: string) => void,
    signal: AbortSignal,
  ): Promise<void> {
    signal.throwIfAborted();
    const known = fetching.get(major);
    const abort = known?.abort ?? new AbortController();
    const shared = known ?? {
      done: fetchNode(major, target, put, abort.signal).finally(() => {
        if (fetching.get(major)?.abort === abort) fetching.delete(major);
      }),
      waiting: 0,
      abort,
    };
    fetching.set(major, shared);
    shared.waiting += 1;
    const canceled = Promise.withResolvers<never>();
    const onCanceled = () => {
      shared.waiting -= 1;
      // The last build waits until the download has ended, so that no process of it is left.
      if (shared.waiting === 0) {
        fetching.delete(major);
        abort.abort();
      } else canceled.reject(signal.reason);
    };
    signal.addEventListener("abort", onCanceled, { once: true });
    try {
      await Promise.race([shared.done, canceled.promise]);
    } finally {
      signal.removeEventListener("abort", onCanceled);
    }
  }

  return {
    async node(major, put, signal) {
      if (process.versions.node.startsWith(`${major}.`)) {
        const program = realpathSync(process.execPath);
        return { path: [dirname(program), ...npmFolder()], program };
      }
      const target = join(dir, `node-${major}`);
      const program = join(target, "node_modules", "node", "bin", "node");
      if (!existsSync(program)) {
        await fetchShared(major, target, put, signal);
      }
      return { path: [dirname(program), ...npmFolder()], program };
    },
    async python(version) {
      const folders = [...(await pyenvFolders(version)), ...ownPath(), ...systemPath];
      const exact = await firstWorking(
        folders.map((folder) => join(folder, `python${version}`)),
        version,
      );
      if (exact) return { path: [], program: exact };
      const nearest = await firstWorking(
        [...systemPath, ...ownPath()].map((folder) => join(folder, "python3")),
        "3.",
      );
      if (!nearest) {
        throw new RuntimeMissing(`Python ${version} is not installed on this machine, and no other Python 3 is.`);
      }
      const warning = `Python ${version} is not installed on this machine; its python3 runs the app instead. On AWS, Python ${version} runs it.`;
      return { path: [], program: nearest, warning };
    },
  };
}

/** The first of these interpreters that runs and has this version; a version manager's shim may exist and not run. */
async function firstWorking(programs: readonly string[], version: string): Promise<string | undefined> {
  for (const program of new Set(programs)) {
    if (!existsSync(program)) continue;
    let output = "";
    const script = "import sys; print('%d.%d' % sys.version_info[:2]); print(sys.executable)";
    const result = await runProcessGroup(program, ["-c", script], {
      cwd: "/",
      env: { PATH: systemPath.join(delimiter) },
      timeoutMs: 10_000,
      onOutput: (stream, chunk) => {
        if (stream === "stdout") output += chunk;
      },
    });
    const [found = "", executable = ""] = output.split("\n");
    if (result.exitCode === 0 && (found === version || (version.endsWith(".") && found.startsWith(version))))
      return executable;
  }
  return undefined;
}

async function pyenvFolders(version: string): Promise<string[]> {
  const versions = join(process.env.PYENV_ROOT ?? join(homedir(), ".pyenv"), "versions");
  const installed = await readdir(versions).catch(() => []);
  return installed.filter((name) => name.startsWith(`${version}.`)).map((name) => join(versions, name, "bin"));
}

/** The variables for a company's proxy and certificates, which downloads need behind such a proxy. */
export function certificates(): Record<string, string> {
  const kept = [
    "NODE_EXTRA_CA_CERTS",
    "SSL_CERT_FILE",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "https_proxy",
    "http_proxy",
    "no_proxy",
  ];
  return Object.fromEntries(
    kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}
