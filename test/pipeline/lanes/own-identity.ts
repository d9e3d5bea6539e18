import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { address, deploy } from "../../harness/app.ts";
import type { Running } from "../../harness/service.ts";

/** An app that uses the official client without arguments: no key is issued, registered or injected. */
const app = `
import { createServer } from "node:http";
import { Slipway } from "./sdk/node.ts";
const client = new Slipway();
createServer(async (request, response) => {
  try {
    response.end(JSON.stringify(await client.listOrganizations()));
  } catch (error) {
    response.statusCode = 418;
    response.end(String(error.message));
  }
}).listen(process.env.PORT);
`;

/** The identity of an app, whether it runs as a process or in a container. */
export function ownIdentityTests(start: () => Promise<Running>): void {
  let running: Running;
  beforeAll(async () => {
    running = await start();
  });
  afterAll(() => running.stop());

  test("a deployed app calls the API of its own organization without any key", async () => {
    const bundled = await build({
      stdin: { contents: app, resolveDir: new URL("../../..", import.meta.url).pathname, loader: "ts" },
      bundle: true,
      write: false,
      platform: "node",
      format: "esm",
    });
    const built = await deploy(running, {
      "package.json": JSON.stringify({
        name: "self",
        private: true,
        type: "module",
        scripts: { start: "node server.js" },
      }),
      "server.js": bundled.outputFiles[0]?.text ?? "",
    });
    expect(built.status).toBe("ready");
    const response = await fetch(await address(running));
    const { seed } = running;
    const organizations = [{ id: seed.organizationId, name: "Local", role: null }];
    // If the call failed, the text of the answer is its error.
    expect(await response.text()).toBe(JSON.stringify({ organizations }));
    const { body } = await running.call("GET", `${running.project}/credentials`);
    expect(body.credentials).toEqual([]);
  });
}
