import { setTimeout as sleep } from "node:timers/promises";
import { test } from "vitest";
import { begin, finished, nodeApp } from "../../harness/app.ts";
import type { Running } from "../../harness/service.ts";

/** A version that listens only on the loopback address, as a process or in a container. */
export function loopbackOnlyTests(project: () => Promise<Running>): void {
  test.runIf(process.platform === "linux")(
    "a version that listens only on the loopback address fails early",
    async ({ expect }) => {
      const own = await project();
      const app = nodeApp(
        "",
        "createServer((q, r) => r.end()).listen(Number(process.env.PORT), '127.0.0.1', () => console.log('up')); return;",
      );
      // Longer than this test, so that an end of the build at all is early.
      const settings = { "slipway.json": JSON.stringify({ healthTimeoutSeconds: 600 }) };
      const id = await begin(own, { ...app, ...settings });
      const lines = await notices(own, id);
      expect(lines).toContain("Slipway: the app listens on 127.0.0.1:8080 only. Listen on 0.0.0.0.");
      const { body } = await own.call("GET", `${own.project}/builds/${id}`);
      expect(body.build.status).toBe("deploying");
      const build = await finished(own, id);
      expect(build.status).toBe("error");
      expect(build.error).toMatch(/Your app listens on 127\.0\.0\.1:8080 only[\s\S]*Listen on 0\.0\.0\.0/);
    },
  );
}

/** The lines that the service adds to the app's output, read from the build's log while it is deployed. */
async function notices(service: Running, id: string): Promise<string[]> {
  for (;;) {
    const { body } = await service.call("GET", `${service.project}/builds/${id}/logs`);
    const found = (body.lines as { text: string }[]).filter(({ text }) => text.startsWith("Slipway: "));
    if (found.length > 0) return found.map(({ text }) => text);
    await sleep(200);
  }
}
