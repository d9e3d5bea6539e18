import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Capability } from "../../../../api/capabilities.ts";
import { prepareTools, TableClient } from "../../../../lambdas/http/tools.ts";

const names = ["TABLE_NAME", "AWS_REGION"] as const;
const kept = names.map((name) => [name, process.env[name]] as const);
beforeEach(() => {
  process.env.TABLE_NAME = "rows";
  process.env.AWS_REGION = "eu-central-1";
});
afterEach(() => {
  for (const [name, value] of kept) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

/** The calls of each tool of these capabilities. */
async function abilities(...uses: Capability[]): Promise<Record<string, string[]>> {
  const tools: Record<string, object> = await prepareTools(uses)();
  return Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, Object.keys(tool).sort()]));
}

const reading = ["expiredLocks", "list", "read"];
const updating = ["update", "updateBestEffort"];

test("a tool can do what its capability says, and nothing else", async () => {
  expect(await abilities("table:read")).toEqual({ table: reading });
  expect(await abilities("table:write")).toEqual({ table: ["write"] });
  expect(await abilities("table:read", "table:write")).toEqual({ table: [...reading, "write"] });
  expect(await abilities("table:read", "keys:record-use")).toEqual({ table: reading, keyUses: updating });
  expect(await abilities("live-build:cache")).toEqual({ liveCache: updating });
  expect(await abilities("files:follow")).toEqual({ entries: updating });
});

test("a tool that is seldom used is loaded by its first call, once", async () => {
  let loads = 0;
  // Passes the module itself on: this only watches when it is loaded.
  vi.doMock("../../../../lambdas/aws/app-exits.ts", (original) => {
    loads += 1;
    return original();
  });
  vi.stubEnv("CLUSTER_NAME", "apps");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "none");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "none");
  vi.stubEnv("AWS_ENDPOINT_URL_ECS", "http://127.0.0.1:9");
  const { exits } = await prepareTools(["apps:exits"], new TableClient(), ["apps:exits"])();
  expect(loads).toBe(0);
  // No ECS listens there: the call was made.
  for (let call = 0; call < 2; call += 1)
    await expect(exits.of("bld_1", new Date())).rejects.toThrow(/ECONNREFUSED|connect/);
  expect(loads).toBe(1);
  vi.doUnmock("../../../../lambdas/aws/app-exits.ts");
  vi.unstubAllEnvs();
});
