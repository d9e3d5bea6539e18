import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { join } from "node:path";
import * as z from "zod";
import { log } from "../lambdas/http/log.ts";
import { DamagedFile, readStateFile, writeStateFile } from "./state-file.ts";

/** Below the ephemeral ports of the operating system, so that another program rarely uses a kept port. */
const range = { first: 20_000, last: 24_999 };
const unlistedRange = { first: 30_000, last: 31_999 };

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

/** Whether the service can listen on a port of 127.0.0.1; 0 means any free port. */
export async function isPortFree(port: number): Promise<boolean> {
  return port === 0 || isFree(port);
}

const unlisted = new Map<string, number>();

/**
 * A port that is not written to any file, from a range that neither the system nor `openPorts` uses. A name keeps its
 * port as long as the process runs, because the functions' AWS clients keep their endpoint if the service starts again.
 */
export async function unlistedPort(name: string): Promise<number> {
  for (let port = unlisted.get(name); ; port = randomInt(unlistedRange.first, unlistedRange.last + 1)) {
    if (port === undefined || !(await isFree(port))) continue;
    unlisted.set(name, port);
    return port;
  }
}

export interface Ports {
  /** The port of this name; chosen and stored at the first call. */
  of(name: string): Promise<number>;
  /** Like `of`, but chooses and stores another port if another program uses the stored one. */
  freeOf(name: string): Promise<number>;
}

/** Reads the stored ports. A damaged file is replaced, because ECS also stores the ports of deployed projects. */
function readPorts(path: string): Record<string, number> {
  try {
    return readStateFile(path, z.record(z.string(), z.int()), "") ?? {};
  } catch (error) {
    if (!(error instanceof DamagedFile)) throw error;
    log("error", "The file of ports was damaged; a new one is created", { path });
    return {};
  }
}

/** Opens `<dir>/ports.json`, the ports that stay the same after a restart. */
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
