import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createRuntimes } from "../../../local/codebuild/runtimes.ts";

const dir = mkdtempSync(join(tmpdir(), "runtimes-"));
const path = process.env.PATH;

const starts = join(dir, "starts");
const go = join(dir, "go");
/** A replacement for npm that waits for the file `go` and creates the same files. */
beforeAll(() => {
  const npm = join(dir, "npm");
  const script = `#!/bin/sh
echo started >> ${starts}
while [ ! -e ${go} ]; do sleep 0.05; done
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

beforeEach(() => {
  rmSync(starts, { force: true });
  rmSync(go, { force: true });
});

const hasStarted = () => expect.poll(() => existsSync(starts)).toBe(true);
const never = () => new AbortController().signal;
const silent = () => undefined;

test("stopping one build does not cancel the runtime download of other builds", async () => {
  const runtimes = createRuntimes(join(dir, "shared"));
  const stopped = new AbortController();
  const first = runtimes.node("11", silent, stopped.signal);
  const second = runtimes.node("11", silent, never());
  await hasStarted();
  stopped.abort();
  await expect(first).rejects.toThrow();
  writeFileSync(go, "");
  const { program } = await second;
  expect(existsSync(program)).toBe(true);
});

test("a download is stopped when no build waits for it any more, and the next build starts another", async () => {
  const runtimes = createRuntimes(join(dir, "alone"));
  const stopped = new AbortController();
  const first = runtimes.node("11", silent, stopped.signal);
  await hasStarted();
  stopped.abort();
  await expect(first).rejects.toThrow();
  writeFileSync(go, "");
  const { program } = await runtimes.node("11", silent, never());
  expect(existsSync(program)).toBe(true);
});
