import { threadId } from "node:worker_threads";

interface Event {
  busyMs?: number;
  throws?: string;
  ends?: boolean;
  readsTable?: boolean;
}

/** Functions read their environment while they are loaded. */
const table = process.env.TABLE_NAME;

/** A function that computes, throws, exits its thread, or returns its table's name instead of its thread's id, as its event says. */
export async function handler({ busyMs = 0, throws, ends, readsTable }: Event): Promise<number | string | undefined> {
  const began = performance.now();
  while (performance.now() - began < busyMs);
  if (throws !== undefined) throw Object.assign(new Error("as told"), { name: throws });
  if (ends) process.exit(1);
  return readsTable ? table : threadId;
}
