import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findExecutable } from "../../../local/process/executable.ts";
import { spawnProcessGroup } from "../../../local/process/process-group.ts";
import { runProcessGroup } from "../../../local/process/run.ts";

const path = process.env.PATH ?? "/usr/bin:/bin";
let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "process-group-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // A zombie process, which init has not reaped yet, has ended.
  if (process.platform !== "linux") return true;
  try {
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

/** The processes whose environment holds this text. */
function marked(text: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, "utf8").includes(text);
    } catch {
      return false;
    }
  });
}

async function until(condition: () => boolean): Promise<void> {
  await expect.poll(condition, { timeout: 60_000, interval: 10 }).toBe(true);
}

function output() {
  const chunks: Buffer[] = [];
  return {
    onOutput: (_: string, chunk: Buffer) => void chunks.push(chunk),
    text: () => Buffer.concat(chunks).toString("utf8"),
    pids: () => Buffer.concat(chunks).toString("utf8").trim().split(/\s+/).map(Number),
  };
}

describe("a process group", () => {
  test("gets exactly the given environment, including names that a shell would change", async () => {
    const out = output();
    const env = { PATH: path, OPTIND: "x", PPID: "3", PWD: "/nowhere", "a.b'c": "1", TEXT: `"q" $HOME \n\`x\` '✓'` };
    const child = spawnProcessGroup("node", ["-e", "console.log(JSON.stringify([process.pid, process.env]))"], {
      cwd: dir,
      env,
      onOutput: out.onOutput,
    });
    expect(await child.exited).toEqual({ exitCode: 0 });
    expect(JSON.parse(out.text())).toEqual([child.pid, env]);
  });

  test("gets SIGTERM, and its whole group is killed if it does not exit in time", async () => {
    const polite = output();
    const app =
      "process.on('SIGTERM', () => { console.log('bye'); process.exit(3); }); console.log('up'); setInterval(() => {}, 1e3)";
    const child = spawnProcessGroup("node", ["-e", app], { cwd: dir, env: { PATH: path }, onOutput: polite.onOutput });
    await until(() => polite.text().includes("up"));
    expect(await child.stop(30_000)).toEqual({ exitCode: 3 });
    expect(polite.text()).toBe("up\nbye\n");

    const stubborn = output();
    const shell = spawnProcessGroup("sh", ["-c", "trap '' TERM; sleep 60 & echo $! $$; sleep 60"], {
      cwd: dir,
      env: { PATH: path },
      onOutput: stubborn.onOutput,
    });
    await until(() => stubborn.pids().length === 2);
    expect(await shell.stop(50)).toEqual({ exitCode: 137, signal: "SIGKILL" });
    await until(() => !stubborn.pids().some(isRunning));
  });

  test("leaves no process of its group behind when it exits", async () => {
    const out = output();
    const child = spawnProcessGroup("sh", ["-c", "sleep 60 & echo $!; exit 4"], {
      cwd: dir,
      env: { PATH: path },
      onOutput: out.onOutput,
    });
    expect((await child.exited).exitCode).toBe(4);
    await until(() => !out.pids().some(isRunning));
  });

  test.runIf(process.platform === "linux")(
    "kills daemons with its mark when it exits, and no other daemons",
    async () => {
      const daemon = (mark: string) =>
        `require("node:child_process").spawn("sleep", ["60"], { detached: true, stdio: "ignore", env: { PATH: process.env.PATH, MARK: "${mark}" } }).pid`;
      const out = output();
      const script = `console.log(${daemon("a task's")}, ${daemon("another's")}); setInterval(() => {}, 1e3)`;
      const env = { PATH: path, MARK: "a task's" };
      const child = spawnProcessGroup("node", ["-e", script], { cwd: dir, env, mark: "MARK", onOutput: out.onOutput });
      await until(() => out.pids().length === 2);
      const [own = 0, other = 0] = out.pids();
      expect([own, other].map(isRunning)).toEqual([true, true]);
      await child.stop(5000);
      await until(() => !isRunning(own));
      expect(isRunning(other)).toBe(true);
      process.kill(other, "SIGKILL");
    },
  );

  test.runIf(process.platform === "linux")("kills daemons with its mark also when it is killed", async () => {
    const out = output();
    // Daemons that start each other: a single read of the list of processes may miss one of them.
    const chain = "i=0; while [ $i -lt 40 ]; do i=$((i+1)); setsid sleep 60 & done; wait";
    const child = spawnProcessGroup("sh", ["-c", `trap '' TERM; setsid sh -c '${chain}' & echo $!; sleep 60`], {
      cwd: dir,
      env: { PATH: path, MARK: "killed task" },
      mark: "MARK",
      onOutput: out.onOutput,
    });
    await until(() => out.pids().length === 1 && (out.pids()[0] ?? 0) > 0);
    expect((await child.stop(1)).exitCode).toBe(137);
    await child.gone;
    expect(marked("MARK=killed task")).toEqual([]);
  });

  test("does not have the guard among its children", async () => {
    const waitForAll = "import os\ntry:\n  os.wait()\nexcept ChildProcessError:\n  print('alone')";
    const out = output();
    const python = findExecutable("python3", dir, path);
    if (!python) return;
    const child = spawnProcessGroup(python, ["-c", waitForAll], {
      cwd: dir,
      env: { PATH: path },
      onOutput: out.onOutput,
    });
    expect(await child.exited).toEqual({ exitCode: 0 });
    expect(out.text()).toBe("alone\n");
  });

  test("is killed with its parent, including grandchildren", async () => {
    const pids = join(dir, "pids");
    const host = join(dir, "host.ts");
    const module = join(import.meta.dirname, "../../../local/process/process-group.ts");
    writeFileSync(
      host,
      `import { spawnProcessGroup } from ${JSON.stringify(module)};
       import { appendFileSync } from "node:fs";
       spawnProcessGroup("sh", ["-c", "trap '' TERM HUP; sleep 60 & echo $! $$; sleep 60"], { cwd: "/", env: { PATH: ${JSON.stringify(path)} },
         onOutput: (_, chunk) => appendFileSync(${JSON.stringify(pids)}, chunk) });`,
    );
    const parent = spawn(process.execPath, [host], { stdio: "ignore" });
    writeFileSync(pids, "");
    const read = () => readFileSync(pids, "utf8").trim().split(/\s+/).map(Number);
    await until(() => read().length === 2);
    expect(read().every(isRunning)).toBe(true);
    parent.kill("SIGKILL");
    await until(() => !read().some(isRunning));
  });

  test("reports a command that could not be started", async () => {
    const child = spawnProcessGroup("node", [], { cwd: join(dir, "missing"), env: { PATH: path } });
    expect((await child.exited).failedToStart).toMatch(/ENOENT/);
    expect(findExecutable("no-such-command", dir, path)).toBeUndefined();
    expect(findExecutable("sh", dir, path)).toMatch(/\/sh$/);
  });
});

describe("a run", () => {
  test.runIf(process.platform === "linux")(
    "ends when every process that it left behind is gone, with setsid or without",
    async () => {
      const options = { cwd: dir, env: { PATH: path, MARK: "a build" }, mark: "MARK" };
      const leave = "setsid sleep 60 & sleep 60 & setsid sh -c 'while :; do sleep 1; done' & echo started";
      const stopped = new AbortController();
      const endings = [
        { script: leave, more: {}, endedBy: "exit" },
        { script: `${leave}; sleep 60`, more: { timeoutMs: 1_500 }, endedBy: "timeout" },
        { script: `${leave}; sleep 60`, more: { signal: stopped.signal }, endedBy: "abort" },
      ];
      for (const { script, more, endedBy } of endings) {
        const out = output();
        const running = runProcessGroup("sh", ["-c", script], { ...options, ...more, onOutput: out.onOutput });
        await until(() => out.text() === "started\n");
        if (endedBy === "abort") stopped.abort();
        const result = await running;
        expect(out.text()).toBe("started\n");
        expect(result.endedBy).toBe(endedBy);
        expect(marked("MARK=a build")).toEqual([]);
      }
    },
  );

  test("gives the exit code and the output", async () => {
    const out = output();
    const result = await runProcessGroup("sh", ["-c", "echo one; echo two >&2; exit 5"], {
      cwd: dir,
      env: { PATH: path },
      onOutput: out.onOutput,
    });
    expect(result).toEqual({ exitCode: 5, endedBy: "exit" });
    expect(out.text().split("\n").sort()).toEqual(["", "one", "two"]);
  });

  test("is killed with all its processes by its time limit and by an abort", async () => {
    const slow = ["-c", "sleep 60 & sleep 60"];
    expect(await runProcessGroup("sh", slow, { cwd: dir, env: { PATH: path }, timeoutMs: 50 })).toEqual({
      exitCode: 137,
      endedBy: "timeout",
    });
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 50);
    const run = runProcessGroup("sh", slow, { cwd: dir, env: { PATH: path }, signal: abort.signal });
    expect((await run).endedBy).toBe("abort");
    expect((await runProcessGroup("sh", slow, { cwd: dir, env: {}, signal: abort.signal })).endedBy).toBe("abort");
  });
});
