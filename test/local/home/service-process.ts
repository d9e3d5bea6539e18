import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** The service as `npm start` runs it, in its own process with this data folder. */
export interface ServiceProcess {
  child: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Resolves with the exit code. */
  ended: Promise<number | null>;
  /** Resolves when the ready line has been printed; rejects with the output when the process ends instead. */
  ready: Promise<void>;
  stop(): Promise<number | null>;
}

export function startServiceProcess(home: string): ServiceProcess {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", "local/main.ts"], {
    env: { PATH, HOME, NODE_COMPILE_CACHE, SLIPWAY_HOME: home, PORT: "0" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const ended = once(child, "close").then(([code]) => code as number | null);
  const ready = (async () => {
    while (!stdout.includes("Slipway is ready")) {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`It ended: ${stderr}`);
      await sleep(20);
    }
  })();
  ready.catch(() => undefined);
  const stop = () => {
    child.kill("SIGTERM");
    return ended;
  };
  return { child, stdout: () => stdout, stderr: () => stderr, ended, ready, stop };
}

/** The process ids of this data folder's embedded DynamoDB, from /proc, without the shell that guards it. */
export function databaseProcesses(home: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
        return /\/dynoxide$/.test(words[0] ?? "") && words.includes(join(home, "table.db"));
      } catch {
        return false;
      }
    })
    .map(Number);
}
