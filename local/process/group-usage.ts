import { setImmediate as nextTurn } from "node:timers/promises";
import { processIds, procFile, statFields } from "./proc.ts";

/** What a task, or the processes of a group, use. */
export interface Usage {
  /** Processor time since their start, in seconds; it includes that of processes that have ended. */
  cpuSeconds: number;
  memoryBytes: number;
}

/** Linux counts processor time in these units in /proc. */
const ticksPerSecond = 100;

function statOf(pid: string): { group: string; ticks: number } | undefined {
  const fields = statFields(pid);
  const [group, own, system, ownOfChildren, systemOfChildren] = [2, 11, 12, 13, 14].map((index) => fields[index]);
  if (group === undefined) return undefined;
  const ticks = [own, system, ownOfChildren, systemOfChildren].reduce((sum, one) => sum + Number(one), 0);
  return { group, ticks };
}

function memoryOf(pid: string): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(procFile(pid, "status"))?.[1] ?? 0) * 1024;
}

/** What each of these process groups uses, by its id; empty on other systems than Linux. */
function usageOfGroups(pgids: readonly number[]): Map<number, Usage> {
  const usage = new Map<number, Usage>();
  if (process.platform !== "linux" || pgids.length === 0) return usage;
  const wanted = new Map(pgids.map((pgid) => [String(pgid), pgid]));
  for (const pid of processIds()) {
    const stat = statOf(pid);
    const pgid = wanted.get(stat?.group ?? "");
    if (stat === undefined || pgid === undefined) continue;
    const { cpuSeconds = 0, memoryBytes = 0 } = usage.get(pgid) ?? {};
    usage.set(pgid, {
      cpuSeconds: cpuSeconds + stat.ticks / ticksPerSecond,
      memoryBytes: memoryBytes + memoryOf(pid),
    });
  }
  return usage;
}

/** Returns a function that reads what a process group uses; calls of the same turn of the event loop read /proc once. */
export function createUsageReader(): (pgid: number) => Promise<Usage | undefined> {
  let wanted: number[] = [];
  let batch: Promise<Map<number, Usage>> | undefined;
  const read = async () => {
    await nextTurn();
    const groups = wanted;
    wanted = [];
    batch = undefined;
    return usageOfGroups(groups);
  };
  return async (pgid) => {
    wanted.push(pgid);
    batch ??= read();
    return (await batch).get(pgid);
  };
}
