import { expect, test } from "vitest";
import { usageOfContainer } from "../../../../local/containers/container-usage.ts";
import type { EngineApi } from "../../../../local/containers/engine-api.ts";

/** An engine that answers one question, with an answer in the form of Docker Engine's own documentation. */
function answering(statistics: object): { api: EngineApi; asked: unknown[] } {
  const asked: unknown[] = [];
  const api: EngineApi = {
    async call(method, path, schema, options) {
      asked.push(method, path, options?.query);
      return schema.parse(statistics);
    },
    open: () => Promise.reject(new Error("not asked")),
    perform: () => Promise.reject(new Error("not asked")),
    close: () => undefined,
  };
  return { api, asked };
}
const cpu_stats = { cpu_usage: { total_usage: 2_500_000_000 } };

test("memory is what docker stats shows, with both versions of control groups; processor time is in seconds", async () => {
  for (const stats of [{ total_inactive_file: 300, inactive_file: 1 }, { inactive_file: 300 }]) {
    const { api, asked } = answering({ cpu_stats, memory_stats: { usage: 1_000, stats } });
    expect(await usageOfContainer(api, "abc")).toEqual({ cpuSeconds: 2.5, memoryBytes: 700 });
    expect(asked).toEqual(["GET", "/containers/abc/stats", { stream: false, "one-shot": true }]);
  }
});

test("a container that has ended uses nothing that could be measured", async () => {
  const { api } = answering({ cpu_stats: { cpu_usage: {} }, memory_stats: {} });
  expect(await usageOfContainer(api, "abc")).toBeUndefined();
});
