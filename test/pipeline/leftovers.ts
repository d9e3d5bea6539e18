import { readdirSync, readFileSync } from "node:fs";
import { expect } from "vitest";
import { nodeApp } from "../harness/app.ts";

/** Numbers of this run alone: a process that another run left behind is not counted. */
export const first = 100_000 + (process.pid % 80_000) * 10;

/** The processes of this machine that run `sleep` with this number, which identifies one scenario. */
export function sleepers(seconds: number): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8") === `sleep\0${seconds}\0`;
    } catch {
      return false;
    }
  });
}

export async function until(condition: () => boolean): Promise<void> {
  await expect.poll(condition, { timeout: 80_000, interval: 50 }).toBe(true);
}

/** An app whose build starts a process outside its process group and then runs `more`. */
export function appThatLeaves(seconds: number, more: string): Record<string, string> {
  const scripts = { start: "node server.js", build: `setsid sleep ${seconds} & ${more}` };
  return { ...nodeApp("res.end('ok')"), "package.json": JSON.stringify({ name: "app", private: true, scripts }) };
}
