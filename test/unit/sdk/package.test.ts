import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { browserBundle, buildSdk } from "../../../scripts/package/sdk.ts";
import { nodePrograms } from "../../harness/node-programs.ts";
import { farEnd } from "./far-end.ts";

const run = promisify(execFile);
const root = new URL("../../..", import.meta.url).pathname;
/** A project of a user who has installed the package. */
const folder = mkdtempSync(join(tmpdir(), "slipway-package-"));
beforeAll(async () => {
  // The compiler is a Go program. Without garbage collection it takes a fifth less processor time for these few files.
  vi.stubEnv("GOGC", "off");
  await buildSdk(join(folder, "node_modules/slipway-sdk"));
  symlinkSync(join(root, "node_modules/zod"), join(folder, "node_modules/zod"));
  for (const name of ["@types/node", "undici-types"]) {
    cpSync(join(root, "node_modules", name), join(folder, "node_modules", name), { recursive: true });
  }
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(nodePrograms)(
  "the installed package calls the service, checks replies, packs a folder, and has one method for each route on %s",
  async (program) => {
    await using service = await farEnd({ body: '"pong"' }, { body: { organizations: [{ id: 1 }] } }, { status: 403 });
    writeFileSync(
      join(folder, "app.js"),
      `import { Slipway, SlipwayError } from "slipway-sdk";
     const slipway = new Slipway({ baseUrl: process.argv[2], token: "t" });
     console.log(await slipway.ping());
     await slipway.listOrganizations().catch((error) => console.log(error instanceof SlipwayError, error.code));
     const deploying = slipway.deploy(".", { orgId: "o", projectId: "p" });
     await deploying.catch((error) => console.log(error.name, error.status));
     console.log(typeof slipway.createBuild, typeof slipway.deploy);`,
    );
    const { stdout } = await run(program, ["app.js", service.baseUrl], { cwd: folder });
    expect(stdout.trim().split("\n")).toEqual([
      "pong",
      "true unexpected_reply",
      "PermissionError 403",
      "function function",
    ]);
  },
);

const user = (source: string) => `import { Slipway, NotFoundError } from "slipway-sdk";
const slipway = new Slipway({ baseUrl: "http://127.0.0.1:1", token: "t" });
export async function main(): Promise<string> {
  const { build, endpoints } = await slipway.deploy(${source}, { orgId: "o", projectId: "p" });
  for await (const variable of slipway.iterate("listEnvironments", { orgId: "o", projectId: "p" })) variable.value.trim();
  // @ts-expect-error: a parameter is missing
  await slipway.getBuild({ orgId: "o" }).catch((error: unknown) => error instanceof NotFoundError);
  return build.status + endpoints.join();
}`;

test.each([
  ["Node.js", '"app.zip"', "es2024", []],
  ["a browser", "new Blob([])", "es2024,dom,esnext.iterator,esnext.disposable", ["--customConditions", "browser"]],
])("the types work in a project for %s", async (_, source, lib, more) => {
  writeFileSync(join(folder, "user.ts"), user(source));
  const types = lib === "es2024" ? ["--types", "node"] : ["--types", ""];
  const options = [
    "--module",
    "nodenext",
    "--target",
    "es2024",
    "--lib",
    lib,
    "--strict",
    "--noEmit",
    // The declarations of the package are checked, and those of zod and Node.js, but not those of TypeScript itself.
    "--skipDefaultLibCheck",
    // Several checkers take twice the processor time, and this test then comes close to its time-out.
    "--checkers",
    "1",
    ...types,
    ...more,
  ];
  await run("tsc", [...options, "user.ts"], { cwd: folder }).catch((error: { stdout: string }) =>
    expect.unreachable(error.stdout),
  );
});

test("the browser's bundle imports nothing of Node.js and stays below 12 KB", async () => {
  const text = await browserBundle({ minify: true });
  expect(text).not.toMatch(/["']node:|\bprocess\.env|\brequire\(/);
  expect(gzipSync(text, { level: 9 }).length).toBeLessThan(12 * 1024);
});
