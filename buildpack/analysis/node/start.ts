import { type App, rootFiles } from "../app.ts";
import { commandsOf, invocationOf } from "../command.ts";
import { lineOfKey, listed, NoPlan } from "../diagnostics.ts";
import { optionalJson } from "../manifests.ts";
import type { StaticSite } from "../plan.ts";
import { procfileEntry } from "../procfile.ts";
import { isVendored } from "../tree.ts";
import { entriesAt, stringAt, type Table } from "../values.ts";
import type { Dependencies } from "./dependencies.ts";
import { frameworkStart } from "./frameworks.ts";
import { isWorkspace } from "./install.ts";
import { replacedStart } from "./replaced-start.ts";
import { runnerOf } from "./runner.ts";
import { resolveCommand } from "./scripts.ts";
import { nodeEntry } from "./sources.ts";
import { angularServer, staticBuild } from "./static.ts";
import { emulatorOf, functionsFramework, isWorker, refuseEmulator, refuseUnserved, remedy } from "./unserved.ts";

/** A start command and the place where it was found. */
export interface NodeStart {
  line: string;
  before: string[];
  static: StaticSite | null;
  /** The framework's own build command, for an app without a build script. */
  build: string | null;
  /** The build script's name, if it is not "build". */
  buildScript?: string;
  buildEnv: Readonly<Record<string, string>>;
  /** The line that declares the command, for suggestions on it. */
  file: string;
  declaredAt: number;
  /** Suggestions for a better command. */
  advice: readonly { code: string; message: string }[];
}

const ENTRIES = ["server", "app", "main", "index"].flatMap((name) =>
  ["js", "mjs", "cjs", "ts", "mts", "cts", "tsx", "jsx"].map((ending) => `${name}.${ending}`),
);

/** The start command by docs/detection.md, Start; throws `NoPlan` (no_start_command) when there is none. `isBun`: Bun's lock file decides. */
export function nodeStart(
  app: App,
  manifest: Table | undefined,
  dependencies: Dependencies,
  isBun: boolean,
): NodeStart {
  const names = new Set(dependencies.keys());
  const found = {
    before: [],
    static: null,
    build: null,
    buildEnv: {},
    file: "package.json",
    declaredAt: 1,
    advice: [],
  };
  const framework = frameworkStart(app, manifest, dependencies);
  const build = framework?.build ?? null;
  const buildEnv = framework?.buildEnv ?? {};
  const web = procfileEntry(app, "web");
  if (web !== undefined) {
    const started = declaredStart(app, web.command, manifest, dependencies, "Procfile");
    return { ...found, ...started, build, buildEnv, file: "Procfile", declaredAt: web.line };
  }
  const built = staticBuild(app, manifest, dependencies);
  if (built !== undefined)
    return {
      ...found,
      line: "",
      static: built.site,
      build: built.build,
      ...(built.buildScript && { buildScript: built.buildScript }),
    };
  const script = stringAt(manifest, "scripts", "start");
  if (script !== undefined && !(framework?.static !== undefined && startsFramework(script))) {
    if (framework?.obstacle !== undefined && isEmulated(resolveCommand(script, manifest, names).line))
      throw new NoPlan("no_start_command", framework.obstacle);
    return {
      ...found,
      ...declaredStart(app, "npm start", manifest, dependencies, "package.json"),
      build,
      buildEnv,
      declaredAt: lineOfKey(app.text("package.json"), ["scripts", "start"]),
    };
  }
  if (framework?.obstacle !== undefined) throw new NoPlan("no_start_command", framework.obstacle);
  if (framework !== undefined) {
    const advice = framework.advice === undefined ? [] : [{ code: "platform_adapter", message: framework.advice }];
    return { ...found, line: framework.start, static: framework.static ?? null, build, buildEnv, advice };
  }
  const line = angularServer(app, manifest) ?? entryCommand(app, manifest, dependencies, isBun);
  if (line === undefined) throw noStart(app, manifest, dependencies);
  return { ...found, line };
}

/** The declared command with scripts resolved, replaced if the app would not stay in the foreground. */
function declaredStart(
  app: App,
  command: string,
  manifest: Table | undefined,
  dependencies: Dependencies,
  file: string,
) {
  const { line, before } = resolveCommand(command, manifest, new Set(dependencies.keys()));
  refuseEmulator(lastCommand(line), `The start command in ${app.shown(file)}`, dependencies);
  const { program } = invocationOf(lastCommand(line));
  const entry = /^(node|tsx|ts-node|bun)$/.test(program) ? nodeEntry(app, line) : undefined;
  if (entry !== undefined) refuseUnserved(app, entry, dependencies, program === "bun");
  const replaced = replacedStart(line, manifest, dependencies);
  return { line: replaced?.line ?? line, before, advice: replaced === undefined ? [] : [replaced.advice] };
}

const lastCommand = (line: string): string => invocationOf(commandsOf(line).at(-1)?.text ?? "").rest;

const isEmulated = (line: string): boolean => emulatorOf(lastCommand(line)) !== undefined;

/** Matches a framework's own server, which cannot serve an app that the framework exports as static files. */
const startsFramework = (script: string): boolean =>
  /^(next|nuxt|react-router-serve|react-router)$/.test(invocationOf(script.replace(/^npx\s+/, "")).program);

function entryCommand(
  app: App,
  manifest: Table | undefined,
  dependencies: Dependencies,
  isBun: boolean,
): string | undefined {
  const main = mainFile(app, manifest);
  const entry =
    main ?? ENTRIES.find((name) => app.has(name)) ?? ENTRIES.map((name) => `src/${name}`).find((path) => app.has(path));
  if (entry === undefined) return undefined;
  if (dependencies.has("@google-cloud/functions-framework"))
    return functionsFramework(
      app,
      entry,
      entriesAt(manifest, "scripts").map(([, script]) => script),
    );
  refuseUnserved(app, entry, dependencies, isBun);
  if (isBun) return `bun ${entry}`;
  const runner = runnerOf(app, manifest, dependencies, entry);
  if ("command" in runner) return runner.command;
  throw new NoPlan(
    "no_start_command",
    `${app.shown(entry)} cannot be started: Node.js only removes the types of TypeScript, and ${runner.obstacle}. Add the package tsx and "scripts": {"start": "tsx ${entry}"}, or a build script and a start script for the file that it writes.`,
  );
}

/** package.json's `main`, if the file exists or a build creates it. */
function mainFile(app: App, manifest: Table | undefined): string | undefined {
  const main = stringAt(manifest, "main")?.replace(/^(\.?\/)+|\/+$/g, "");
  if (main === undefined || !/^[\w@./-]+$/.test(main) || main.split("/").includes("..")) return undefined;
  const candidates = [main, `${main}.js`, `${main}/index.js`, `${main}.cjs`, `${main}.mjs`];
  const existing = candidates.find((path) => app.has(path) && /\.([cm]?[jt]s)$/.test(path));
  if (existing !== undefined) return existing;
  const built =
    /^(dist|build|lib|out|output|\.output)\//.test(main) && stringAt(manifest, "scripts", "build") !== undefined;
  return built ? main : undefined;
}

/** Matches start scripts of apps for phones and desktops, which serve nothing. */
const STARTS_A_DEVICE = /\b(?:expo|react-native|electron|electron-forge)\b/;

/** The folders below the root whose package.json has a start script for a server. */
const startableMembers = (app: App): string[] =>
  app.paths
    .filter((path) => path.endsWith("/package.json") && !isVendored(path))
    .filter((path) => {
      const start = stringAt(optionalJson(app, path), "scripts", "start");
      return start !== undefined && !STARTS_A_DEVICE.test(start);
    })
    .map((path) => path.slice(0, path.lastIndexOf("/")));

function noStart(app: App, manifest: Table | undefined, dependencies: Dependencies): NoPlan {
  if (isWorker(app)) {
    return new NoPlan(
      "no_start_command",
      `The app in ${app.root === "" ? "the archive" : app.root} is a Cloudflare Worker according to its Wrangler configuration, and starts no server. ${remedy(dependencies)}`,
    );
  }
  const members = startableMembers(app);
  const [first] = members;
  const place = app.root === "" ? "the archive" : app.root;
  if (first !== undefined) {
    const isOne = members.length === 1;
    // A member of a workspace is not complete without the packages beside it.
    const upload = isWorkspace(app, manifest)
      ? "Name"
      : `Upload ${isOne ? "that folder" : "one of these folders"} only, or name`;
    return new NoPlan(
      "no_start_command",
      `No start command was found for the Node.js app in ${place} itself, but ${listed(members)} ${isOne ? "has a start script" : "have start scripts"}. ${upload} the start command in the package.json above it: "scripts": {"start": "cd ${first} && npm start"}.`,
    );
  }
  return new NoPlan(
    "no_start_command",
    `No start command was found for the Node.js app in ${place}: no Procfile with a web: line, no scripts.start in package.json, and no server.js, app.js, main.js or index.js. Add "scripts": {"start": "node server.js"} to package.json${stringAt(manifest, "scripts", "build") === undefined ? "" : ', or "start": "serve dist" and the dependency "serve" if the build writes a site into dist'}. Files seen: ${listed(rootFiles(app), 12)}.`,
  );
}
