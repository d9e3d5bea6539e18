import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRuntimes } from "../../../local/codebuild/runtimes.ts";

const dir = mkdtempSync(join(tmpdir(), "runtimes-"));
const path = process.env.PATH;

/** A replacement for npm that takes a second and creates the same files. */
beforeAll(() => {
  const npm = join(dir, "npm");
  const script = `#!/bin/sh
echo started >> ${dir}/starts
sleep 1
while [ "$1" != --prefix ]; do shift; done
mkdir -p "$2/node_modules/node/bin" && : > "$2/node_modules/node/bin/node"
`;
  writeFileSync(npm, script);
  chmodSync(npm, 0o755);
  process.env.PATH = [dir, path].join(delimiter);
});
afterAll(() => {
  process.env.PATH = path;
  rmSync(dir, { recursive: true, force: true });
});

const never = () => new AbortController().signal;
const silent = () => undefined;

test("stopping one build does not cancel the runtime download of other builds", async () => {
  const runtimes = createRuntimes(join(dir, "shared"));
  const stopped = new AbortController();
  const first = runtimes.node("11", silent, stopped.signal);
  const second = runtimes.node("11", silent, never());
  await sleep(200);
  stopped.abort();
  await expect(first).rejects.toThrow();
  const { program } = await second;
  expect(existsSync(program)).toBe(true);
});

test("a download is stopped when no build waits for it any more, and the next build starts another", async () => {
  const runtimes = createRuntimes(join(dir, "alone"));
  const stopped = new AbortController();
  const first = runtimes.node("11", silent, stopped.signal);
  await sleep(200);
  stopped.abort();
  await expect(first).rejects.toThrow();
  const { program } = await runtimes.node("11", silent, never());
  expect(existsSync(program)).toBe(true);
});
