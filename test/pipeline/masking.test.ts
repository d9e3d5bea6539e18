import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { deploy, nodeApp } from "../harness/app.ts";
import { type Running, startRunning } from "../harness/service.ts";

const password = "correct horse battery staple";
const key = "-----BEGIN KEY-----\nZm9yIHRlc3RzIG9ubHk=\n-----END KEY-----\n";
const print =
  "console.error(process.env.PASSWORD); console.error(process.env.SIGNING_KEY); console.error(JSON.stringify(process.env.SIGNING_KEY)); console.error('/?p=' + encodeURIComponent(process.env.PASSWORD));";
const masked = /\[masked\]\n(.*\n)*.*\[masked\]\n(.*\n)*.*"\[masked\]"\n(.*\n)*.*\/\?p=\[masked\]/;

describe("the values of variables", () => {
  let running: Running;
  beforeAll(async () => {
    running = await startRunning();
    for (const [name, value] of [
      ["PASSWORD", password],
      ["SIGNING_KEY", key],
    ]) {
      const { status } = await running.call("POST", `${running.project}/environments`, { body: { name, value } });
      expect(status).toBe(201);
    }
  });
  afterAll(() => running.stop());

  /** The error of a failed build and its whole output from the API. */
  async function failed(files: Record<string, string>): Promise<{ error: string; output: string }> {
    const build = await deploy(running, files);
    expect(build.status).toBe("error");
    const { body } = await running.call("GET", `${running.project}/builds/${build.id}/logs`);
    return { error: build.error, output: body.lines.map(({ text }: { text: string }) => text).join("\n") };
  }

  test("are masked in the reason and the output of a build that fails while it is built", async () => {
    const manifest = { name: "app", private: true, scripts: { start: "node server.js", build: "node build.cjs" } };
    const seen = await failed({
      "package.json": JSON.stringify(manifest),
      "server.js": "",
      "build.cjs": `${print} process.exit(3);`,
    });
    for (const text of Object.values(seen)) {
      expect(text).toMatch(masked);
      expect(text).not.toMatch(/horse|BEGIN|Zm9yIHRlc3Rz|END/);
    }
  });

  test("are masked in the reason and the output of a build whose app exits", async () => {
    const seen = await failed(nodeApp("", `${print} process.exit(4);`));
    for (const text of Object.values(seen)) {
      expect(text).toMatch(masked);
      expect(text).not.toMatch(/horse|BEGIN|Zm9yIHRlc3Rz|END/);
    }
  });
});
