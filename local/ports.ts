import { randomInt } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import * as z from "zod";

/** Below the range that systems hand out by themselves, so that a port kept for later is seldom taken meanwhile. */
const range = { first: 20_000, last: 29_999 };
const unlistedRange = { first: 30_000, last: 31_999 };

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

/** The address of a port in use is often the fault of another copy of the service: said in one place. */
export async function isPortFree(port: number): Promise<boolean> {
  return port === 0 || isFree(port);
}

/** A port that is free now and is written nowhere, from a range that neither the system nor `openPorts` hands out. */
export async function unlistedPort(): Promise<number> {
  for (;;) {
    const port = randomInt(unlistedRange.first, unlistedRange.last + 1);
    if (await isFree(port)) return port;
  }
}

export interface Ports {
  /** The port kept under this name since the first time it was asked for. */
  of(name: string): Promise<number>;
  /** As `of`, but another port when the kept one is taken by somebody else. */
  freeOf(name: string): Promise<number>;
}

/** Ports that stay the same over restarts: `<dir>/ports.json`. */
export function openPorts(dir: string): Ports {
  const path = join(dir, "ports.json");
  const kept = new Map(
    existsSync(path) ? Object.entries(z.record(z.string(), z.int()).parse(JSON.parse(readFileSync(path, "utf8")))) : [],
  );

  function keep(name: string, port: number): number {
    kept.set(name, port);
    writeFileSync(`${path}.new`, JSON.stringify(Object.fromEntries(kept)));
    renameSync(`${path}.new`, path);
    return port;
  }
  async function pick(name: string): Promise<number> {
    const used = new Set(kept.values());
    for (;;) {
      const port = randomInt(range.first, range.last + 1);
      if (!used.has(port) && (await isFree(port))) return keep(name, port);
    }
  }
  return {
    of: async (name) => kept.get(name) ?? pick(name),
    async freeOf(name) {
      const port = kept.get(name);
      return port !== undefined && (await isFree(port)) ? port : pick(name);
    },
  };
}
