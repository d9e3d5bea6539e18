import { threadId } from "node:worker_threads";

interface Event {
  busyMs?: number;
  throws?: string;
  ends?: boolean;
}

/** A function that computes, throws, or exits its thread, as its event says. */
export async function handler({ busyMs = 0, throws, ends }: Event): Promise<number> {
  const began = performance.now();
  while (performance.now() - began < busyMs);
  if (throws !== undefined) throw Object.assign(new Error("as told"), { name: throws });
  if (ends) process.exit(1);
  return threadId;
}
