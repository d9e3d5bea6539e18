import { type ChildProcess, spawn } from "node:child_process";
import { Socket } from "node:net";
import { constants } from "node:os";
import { quoted, throughShell } from "./shell-environment.ts";

export type OutputStream = "stdout" | "stderr";

export interface ProcessGroupOptions {
  cwd: string;
  /** The whole environment: nothing of ours is inherited. */
  env: Record<string, string>;
  /** A variable in `env` whose value no other group has: processes that carry it die with the group, even after setsid. */
  mark?: string;
  onOutput?(stream: OutputStream, chunk: Buffer): void;
  /** Called once, after the last output; a death by signal is 128 + its number, as a container runtime reports it. */
  onExit?(exit: ProcessExit): void;
}

export interface ProcessExit {
  exitCode: number;
  signal?: NodeJS.Signals;
  /** Set when the process could not be started at all (no such folder, no more processes). */
  failedToStart?: string;
}

export interface ProcessGroup {
  /** The first process, whose pid is also the group's id; undefined when it could not be started. */
  pid: number | undefined;
  /** Resolves when the first process has ended. */
  exited: Promise<ProcessExit>;
  /** Resolves when the others of its group and those with its mark have been killed as well. */
  gone: Promise<void>;
  /** Asks the first process to end (SIGTERM) and kills everything after `graceMs`; resolves when it has ended. */
  stop(graceMs: number): Promise<ProcessExit>;
}

/**
 * The guard is a member of the group, which keeps the group's id from being given to another group. It blocks on a pipe
 * (fd 3) until our end closes, which a SIGKILL of this process does too. Then it kills the processes with the mark (only
 * where there is a /proc), the group and itself. It is forked twice, so that an app that waits for all of its children
 * does not wait for the guard.
 */
const guard = (ending: string) =>
  `( (trap '' HUP INT QUIT TERM; read _ <&3; ${ending}kill -KILL -$$) </dev/null >/dev/null 2>&1 & )`;

/** Repeated while there was something to kill: a process may start others while the list is read. */
const killMarked = (mark: string) =>
  `read self _ </proc/self/stat; pass=0; while [ "$pass" -lt 20 ]; do pass=$((pass+1)); found=; ` +
  `for at in $(PATH=/usr/bin:/bin grep -lsF ${quoted(mark)} /proc/[0-9]*/environ); do ` +
  `at=\${at#/proc/}; at=\${at%/environ}; [ "$at" = "$self" ] || { kill -KILL "$at" && found=1; }; done; ` +
  `[ "$found" ] || break; done; `;

/** How long output may still arrive after the process has ended, when a process outside the group holds its pipes. */
const lateOutputMs = 500;
/** How long the guard may take to kill the rest. An app can kill the guard, so what it leaves is killed by us then. */
const guardMs = 2_000;

function spawnShell(command: string, args: string[], options: ProcessGroupOptions): ChildProcess {
  const { env, exec } = throughShell(options.env);
  const { mark } = options;
  const ending = mark === undefined ? "" : killMarked(`${mark}=${options.env[mark]}`);
  const script = `${guard(ending)}\nunset PWD OLDPWD SHLVL\n${exec} "$@" 3<&-`;
  return spawn("/bin/sh", ["-c", script, "sh", command, ...args], {
    cwd: options.cwd,
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
}

function exitOf(code: number | null, signal: NodeJS.Signals | null): ProcessExit {
  if (signal) return { exitCode: 128 + constants.signals[signal], signal };
  return { exitCode: code ?? 1 };
}

function awaitExit(child: ChildProcess): Promise<ProcessExit> {
  return new Promise((resolve) => {
    child.once("error", (error) => resolve({ exitCode: 127, failedToStart: error.message }));
    const outputs = [child.stdout, child.stderr].filter((stream) => stream !== null);
    // Not the child's own "close": that would wait for the guard's pipe too.
    const closed = Promise.all(outputs.map((stream) => new Promise<void>((done) => stream.once("close", done))));
    child.once("exit", (code, signal) => {
      const done = () => {
        clearTimeout(late);
        for (const stream of outputs) stream.destroy();
        resolve(exitOf(code, signal));
      };
      const late = setTimeout(done, lateOutputMs);
      void closed.then(done);
    });
  });
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

/** Lets the guard kill everything; resolves when the guard itself, which dies last, has closed its end of the pipe. */
function releaseGuard(child: ChildProcess): Promise<void> {
  const pipe = child.stdio[3];
  if (!(pipe instanceof Socket) || pipe.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const late = setTimeout(() => pipe.destroy(), guardMs);
    pipe.once("close", () => {
      clearTimeout(late);
      resolve();
    });
    pipe.resume().end();
  });
}

/**
 * Starts a process in a group of its own that cannot outlive this process: when this process ends, by SIGKILL too, the
 * whole group is killed, and when the first process ends, so are those it left behind in its group or with its mark.
 */
export function spawnProcessGroup(command: string, args: string[], options: ProcessGroupOptions): ProcessGroup {
  const child = spawnShell(command, args, options);
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream]?.on("data", (chunk: Buffer) => options.onOutput?.(stream, chunk));
  }
  child.stdio[3]?.on("error", () => {});
  let ended = false;
  let released: Promise<void> | undefined;
  const release = () => {
    released ??= releaseGuard(child);
    return released;
  };
  const gone = Promise.withResolvers<void>();
  child.once("error", () => gone.resolve());
  child.once("exit", () => {
    ended = true;
    gone.resolve(release());
  });
  const exited = awaitExit(child).then((exit) => {
    ended = true;
    options.onExit?.(exit);
    return exit;
  });

  const kill = async (pid: number) => {
    // The guard knows the processes that left the group, so it kills; a SIGKILL of the group would end it before.
    await Promise.race([release(), exited]);
    // Until the exit is reported, the pid is not reaped, so the group is still the app's.
    if (!ended) send(-pid, "SIGKILL");
  };
  const stop = async (graceMs: number): Promise<ProcessExit> => {
    const { pid } = child;
    if (ended || pid === undefined) return exited;
    if (graceMs > 0) send(pid, "SIGTERM");
    const timer = setTimeout(() => {
      if (!ended) void kill(pid);
    }, graceMs);
    return exited.finally(() => clearTimeout(timer));
  };
  return { pid: child.pid, exited, gone: gone.promise, stop };
}
