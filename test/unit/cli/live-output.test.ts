import { expect, test } from "vitest";
import { LiveOutput } from "../../../cli/live-output.ts";
import { Terminal } from "../../../cli/terminal.ts";
import { createClient } from "../../../sdk/client.ts";
import { contractService } from "./contract-service.ts";

const logLines = [
  { stage: "building", text: "Detected: nodejs24.x with npm. Started with: node server.js" },
  { stage: "building", text: "added 3 packages" },
  { stage: "deploying", text: "listening on 3000\u001b[2J" },
];

async function outputOf(
  slowStartMilliseconds: number,
  isStarting: boolean,
): Promise<{ shown: string; newest: string }> {
  await using service = await contractService({ logLines });
  const { SLIPWAY_URL: baseUrl } = service.environment;
  const client = createClient({ baseUrl, accessKey: "ak", secretKey: "sk" });
  let shown = "";
  const terminal = new Terminal({ write: () => true }, { write: (text) => (shown += text) }, {});
  const target = { client, project: { orgId: "org_1", projectId: "prj_1" } };
  const output = new LiveOutput(target, "bld_1", terminal, slowStartMilliseconds);
  if (isStarting) output.appStarts();
  const stop = new AbortController();
  let rounds = 0;
  await output.follow(stop.signal, async () => {
    rounds += 1;
    if (rounds === 2) stop.abort();
  });
  return { shown, newest: output.newest };
}

test("an app that does not answer has its output shown while it is waited for, each line once", async () => {
  const { shown } = await outputOf(0, true);
  expect(shown).toBe(
    "  Detected: nodejs24.x with npm. Started with: node server.js\n" +
      "  The app does not answer yet. Its output:\n" +
      "    listening on 3000\n",
  );
});

test.each([
  ["that just started", 60_000, true],
  ["that is not started yet", 0, false],
])("the output of an app %s stays in the log", async (_, slowStartMilliseconds, isStarting) => {
  const { shown, newest } = await outputOf(slowStartMilliseconds, isStarting);
  expect(shown).toBe("  Detected: nodejs24.x with npm. Started with: node server.js\n");
  expect(newest).toBe("listening on 3000");
});
