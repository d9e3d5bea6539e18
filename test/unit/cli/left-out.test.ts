import { expect, test } from "vitest";
import { leftOutBecause, leftOutOf } from "../../../sdk/folder/left-out.ts";
import { contractService } from "./contract-service.ts";
import { commandLine, folderWith } from "./slipway.ts";

const files = {
  ".gitignore": "# built\n*.log\ndist/\n",
  ".dockerignore": "secret\n",
  "web/.gitignore": "/out\n",
  "package.json": '{"scripts": {"start": "node dist/index.js"}}',
  "dist/index.js": "",
  "web/out/page.js": "",
  "secret/key.js": "",
  "node_modules/a/index.js": "",
  ".env": "A=b",
  "server.js": "",
};

test.each([
  ["dist/index.js", 'it is left out by "dist/" in .gitignore, line 3.'],
  ["web/out/page.js", 'it is left out by "/out" in web/.gitignore, line 1.'],
  ["secret/key.js", 'it is left out by "secret" in .dockerignore, line 1.'],
  ["node_modules/a/index.js", "node_modules is never sent."],
  [".env", ".env is never sent."],
])("the rule that leaves out %s is named", (path, reason) => {
  using app = folderWith(files);
  expect(leftOutBecause(app.path, path)).toContain(reason);
});

test.each(["server.js", "gone.js", "../server.js", "dist/gone.js"])("no rule leaves out %s", (path) => {
  using app = folderWith(files);
  expect(leftOutBecause(app.path, path)).toBeUndefined();
  expect(leftOutOf(app.path, `It runs ${path}, which is not in the archive.`)).toBeUndefined();
});

test("analyze --as-deployed says which rule left the start file out", async () => {
  using app = folderWith(files);
  const { stdout } = await commandLine(["analyze", "--as-deployed", app.path]);
  const { runtime, error } = JSON.parse(stdout);
  expect(runtime).toBe("nodejs24.x");
  expect(error).toMatchObject({ code: "no_start_command", entry: "dist/index.js" });
  expect(error.message).toContain("runs dist/index.js, which is not in the archive");
  expect(error.message).toContain('left out by "dist/" in .gitignore, line 3.');
});

test("deploy says which rule left out the file that the build misses", async () => {
  const error = 'The start command "node dist/index.js" runs dist/index.js, which is not in the archive, and …';
  await using service = await contractService({ statuses: [{ status: "error", error }] });
  using app = folderWith(files);
  const { code, stderr } = await commandLine(["deploy", app.path], { environment: service.environment });
  expect(code).toBe(1);
  expect(stderr).toContain(
    'dist/index.js is in the folder, but is not sent: it is left out by "dist/" in .gitignore, line 3.',
  );
});
