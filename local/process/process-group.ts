import { type ChildProcess, spawn } from "node:child_process";
import { Socket } from "node:net";
import { constants } from "node:os";
import { quoted, throughShell } from "./shell-environment.ts";

export type OutputStream = "stdout" | "stderr";

export interface ProcessGroupOptions {
  cwd: string;
  /** The whole environment; variables of this process are not inherited. */
  env: Record<string, string>;
  /** A variable in `env` with a unique value. Processes that have it are killed with the group, even after setsid. */
  mark?: string;
  onOutput?(stream: OutputStream, chunk: Buffer): void;
  /** Called once, after the last output. The exit code after a signal is 128 + its number, as in a container runtime. */
  onExit?(exit: ProcessExit): void;
}

export interface ProcessExit {
  exitCode: number;
  signal?: NodeJS.Signals;
  /** Set when the process could not be started at all (no such folder, no more processes). */
  failedToStart?: string;
}

export interface ProcessGroup {
  /** The pid of the first process, which is also the group's id; undefined if it could not be started. */
  pid: number | undefined;
  /** Resolves when the first process has ended. */
  exited: Promise<ProcessExit>;
  /** Resolves when the other processes of the group and those with the mark have been killed too. */
  gone: Promise<void>;
  /** Sends SIGTERM to the first process and kills everything after `graceMs`; resolves when the first process has ended. */
  stop(graceMs: number): Promise<ProcessExit>;
}

/**
 * The guard process is a member of the group, so the system cannot reuse the group's id. It reads from a pipe (fd 3)
 * until this process closes it or dies, even by SIGKILL. Then it kills the processes with the mark (only where /proc
 * exists), the group and itself. It is forked twice, so that an app that waits for all of its children does not wait
 * for the guard.
 */
const guard = (ending: string) =>
  `( (trap '' HUP INT QUIT TERM; read _ <&3; ${ending}kill -KILL -$$) </dev/null >/dev/null 2>&1 & )`;

/**
 * Repeats until it finds no process to kill twice in a row: a process may start others while the list is read, and one
 * that replaces its program (exec) shows no environment for a moment.
 */
const killMarked = (mark: string) =>
  `read self _ </proc/self/stat; pass=0; empty=0; while [ "$pass" -lt 20 ]; do pass=$((pass+1)); found=; ` +
  `for at in $(PATH=/usr/bin:/bin grep -lsF ${quoted(mark)} /proc/[0-9]*/environ); do ` +
  `at=\${at#/proc/}; at=\${at%/environ}; [ "$at" = "$self" ] || { kill -KILL "$at" && found=1; }; done; ` +
  `if [ "$found" ]; then empty=0; else empty=$((empty+1)); [ "$empty" -lt 2 ] || break; ` +
  `PATH=/usr/bin:/bin sleep 0.01; fi; done; `;

/** Output is read for this long after the process has ended, if a process outside the group keeps its pipes open. */
const lateOutputMs = 500;
/** The guard must kill the rest within this time. */
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
    // The child's "close" event would also wait for the guard's pipe.
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

/** Closes the pipe so that the guard kills everything. Resolves when the guard, which dies last, has closed its end. */
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
 * Starts a process in its own process group. When this process ends, even by SIGKILL, the whole group is killed. When
 * the first process ends, the other processes in its group or with its mark are killed.
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
    // The guard also kills the processes that left the group; a SIGKILL to the group would end the guard before that.
    await Promise.race([release(), exited]);
    // Before the exit is reported, the pid cannot be reused, so the group id still belongs to the app.
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
