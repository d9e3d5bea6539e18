import { expect, test } from "vitest";
import { compact } from "../../../../lambdas/mcp/model/route-tools.ts";
import { fenced } from "../../../../sdk/fence.ts";

test("all 300 points of a project's measurements reach a model, the newest too", () => {
  const at = (minute: number) => new Date(Date.UTC(2026, 10, 22) + minute * 60_000).toISOString();
  const values = { requests: 123_456, errors: 12_345, latencyMsP50: 123.4, latencyMsP95: 12_345.6 };
  const more = { memoryMiB: 1234.5, cpuPercent: 123.4, restarts: 12 };
  const points = Array.from({ length: 300 }, (_, minute) => ({ at: at(minute), ...values, ...more }));
  const answer = { from: at(0), stepSeconds: 60, points };
  expect(fenced(answer)).not.toContain(at(299));
  const text = fenced(compact(answer));
  expect(text).not.toContain("more characters");
  const [, json = ""] = /<data-[^>]+>\n(.*)\n<\/data-/.exec(text) ?? [];
  const { columns, points: rows, ...rest } = JSON.parse(json);
  expect(rest).toEqual({ from: at(0), stepSeconds: 60 });
  expect(columns).toEqual(Object.keys(points[0] ?? {}));
  expect(rows.at(-1)).toEqual(Object.values(points.at(-1) ?? {}));
  expect(rows).toHaveLength(300);
});

test("other answers stay as they are", () => {
  for (const data of ["pong", null, { builds: [] }, { points: 3 }]) expect(compact(data)).toBe(data);
  expect(compact({ points: [] })).toEqual({ columns: [], points: [] });
});
