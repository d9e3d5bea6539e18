import * as z from "zod";
import type { Usage } from "../process/group-usage.ts";
import type { EngineApi } from "./engine-api.ts";

const count = z.number().default(0);

/** The fields of a container's statistics that are used; a container that has ended has none. */
const statistics = z.object({
  cpu_stats: z.object({ cpu_usage: z.object({ total_usage: count }) }),
  memory_stats: z.object({
    usage: z.number().optional(),
    // cgroup v1 and v2 have different names for files in memory that can be dropped at any time.
    stats: z.object({ total_inactive_file: z.number().optional(), inactive_file: count }).optional(),
  }),
});

/** What a container uses; undefined if it does not run. Its memory is what `docker stats` shows. */
export async function usageOfContainer(api: EngineApi, id: string): Promise<Usage | undefined> {
  const query = { stream: false, "one-shot": true };
  const { cpu_stats: cpu, memory_stats: memory } = await api.call("GET", `/containers/${id}/stats`, statistics, {
    query,
  });
  if (memory.usage === undefined) return undefined;
  const droppable = memory.stats?.total_inactive_file ?? memory.stats?.inactive_file ?? 0;
  return { cpuSeconds: cpu.cpu_usage.total_usage / 1e9, memoryBytes: Math.max(memory.usage - droppable, 0) };
}
