import { afterEach, beforeEach, expect, test } from "vitest";
import type { Capability } from "../../../../api/capabilities.ts";
import { prepareTools } from "../../../../lambdas/http/tools.ts";

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
