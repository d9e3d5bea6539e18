import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { join } from "node:path";
import * as z from "zod";
import { log } from "../lambdas/http/log.ts";
import { DamagedFile, readStateFile, writeStateFile } from "./state-file.ts";

/** Below the range that systems hand out by themselves, so that a kept port is seldom taken by another program. */
const range = { first: 20_000, last: 24_999 };
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

const unlisted = new Map<string, number>();

/**
 * A port that is written nowhere, from a range that neither the system nor `openPorts` hands out. A name keeps its port
 * while this process lives: the functions' AWS clients, once made, call the same address after the next start.
 */
export async function unlistedPort(name: string): Promise<number> {
  for (let port = unlisted.get(name); ; port = randomInt(unlistedRange.first, unlistedRange.last + 1)) {
    if (port === undefined || !(await isFree(port))) continue;
    unlisted.set(name, port);
    return port;
  }
}

export interface Ports {
  /** The port kept under this name since the first time it was asked for. */
  of(name: string): Promise<number>;
  /** As `of`, but another port, kept from now on, when the kept one is taken by another program. */
  freeOf(name: string): Promise<number>;
}

/** A damaged file is replaced: ECS remembers the port of each deployed project as well. */
function readPorts(path: string): Record<string, number> {
  try {
    return readStateFile(path, z.record(z.string(), z.int()), "") ?? {};
  } catch (error) {
    if (!(error instanceof DamagedFile)) throw error;
    log("error", "The list of ports was damaged and is made anew", { path });
    return {};
  }
}

/** Ports that stay the same over restarts: `<dir>/ports.json`. */
export function openPorts(dir: string): Ports {
  const path = join(dir, "ports.json");
  const kept = new Map(Object.entries(readPorts(path)));

  function keep(name: string, port: number): number {
    kept.set(name, port);
    writeStateFile(path, Object.fromEntries(kept));
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
