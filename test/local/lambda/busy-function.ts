import { threadId } from "node:worker_threads";

interface Event {
  busyMs?: number;
  throws?: string;
  ends?: boolean;
}

/** A function that does as it is told: computes, throws, or ends its thread. */
export async function handler({ busyMs = 0, throws, ends }: Event): Promise<number> {
  const began = performance.now();
  while (performance.now() - began < busyMs);
  if (throws !== undefined) throw Object.assign(new Error("as told"), { name: throws });
  if (ends) process.exit(1);
  return threadId;
}
