import { threadId } from "node:worker_threads";

interface Event {
  busyMs?: number;
  throws?: string;
  ends?: boolean;
  reads?: string;
}

const environment = { ...process.env };

/** A function that computes, throws, exits its thread, or reads the environment that it was loaded with, as its event says. */
export async function handler({ busyMs = 0, throws, ends, reads }: Event): Promise<number | string | undefined> {
  const began = performance.now();
  while (performance.now() - began < busyMs);
  if (throws !== undefined) throw Object.assign(new Error("as told"), { name: throws });
  if (ends) process.exit(1);
  if (reads !== undefined) return environment[reads];
  return threadId;
}
