import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import { quoted, throughShell } from "./shell-environment.ts";

export type OutputStream = "stdout" | "stderr";

export interface TetheredOptions {
  cwd: string;
  /** The whole environment: nothing of ours is inherited. */
  env: Record<string, string>;
  /** A name in `env` whose value no other process has: what carries it dies with the group, wherever it went. */
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

export interface Tethered {
  /** The app's own pid, which is also its process group; undefined when it could not be started. */
  pid: number | undefined;
  exited: Promise<ProcessExit>;
  /** Asks the app to end (SIGTERM) and, after `graceMs`, kills its whole group; resolves when it has ended. */
  stop(graceMs: number): Promise<ProcessExit>;
}

/**
 * The guard is a member of the app's process group, which keeps the group's id from being given to anyone else. It
 * blocks on the tether (fd 3) until our end closes, for whatever reason, then kills what has left the group with the
 * app's mark (daemons; only where there is a /proc), the group and itself. It is forked twice, so that an app that waits
 * for all of its children does not wait for the guard.
 */
const guard = (ending: string) =>
  `( (trap '' HUP INT QUIT TERM; read _ <&3; ${ending}kill -KILL -$$) </dev/null >/dev/null 2>&1 & )`;

const killMarked = (mark: string) =>
  `read self _ </proc/self/stat; for at in $(PATH=/usr/bin:/bin grep -lsF ${quoted(mark)} /proc/[0-9]*/environ); do ` +
  `at=\${at#/proc/}; at=\${at%/environ}; [ "$at" = "$self" ] || kill -KILL "$at"; done; `;

/** How long output may still arrive after the process has ended, when something that escaped holds its pipes. */
const lateOutputMs = 500;

function spawnShell(command: string, args: string[], options: TetheredOptions): ChildProcess {
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
    child.once("exit", (code, signal) => {
      // Letting go of the tether makes the guard end what is left of the group.
      child.stdio[3]?.destroy();
      const done = () => {
        clearTimeout(late);
        child.stdout?.destroy();
        child.stderr?.destroy();
        resolve(exitOf(code, signal));
      };
      const late = setTimeout(done, lateOutputMs);
      child.once("close", done);
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

/**
 * Starts a process in a group of its own that cannot outlive us: when this process ends, by SIGKILL too, the whole
 * group is killed, and when the app ends, so do the processes it left behind in its group or with its mark.
 */
export function spawnTethered(command: string, args: string[], options: TetheredOptions): Tethered {
  const child = spawnShell(command, args, options);
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream]?.on("data", (chunk: Buffer) => options.onOutput?.(stream, chunk));
  }
  child.stdio[3]?.on("error", () => {});
  let ended = false;
  child.once("exit", () => {
    ended = true;
  });
  const exited = awaitExit(child).then((exit) => {
    ended = true;
    options.onExit?.(exit);
    return exit;
  });

  const stop = async (graceMs: number): Promise<ProcessExit> => {
    const { pid } = child;
    if (ended || pid === undefined) return exited;
    if (graceMs > 0) send(pid, "SIGTERM");
    const timer = setTimeout(() => {
      // Until the exit is reported, the pid is not reaped, so the group is still the app's.
      if (!ended) send(-pid, "SIGKILL");
    }, graceMs);
    return exited.finally(() => clearTimeout(timer));
  };
  return { pid: child.pid, exited, stop };
}
