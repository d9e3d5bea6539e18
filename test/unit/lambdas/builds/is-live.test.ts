import { expect, test } from "vitest";
import { archiveKey, archiveOwner, singleBuildReply, withSuccess } from "../../../../lambdas/builds/model/replies.ts";
import { newBuild } from "../../../../lambdas/builds/model/transitions.ts";

const now = new Date("2026-11-21T12:00:00.000Z");
const { row } = newBuild(
  {
    id: "bld_1",
    projectId: "prj_1",
    organizationId: "org_1",
    title: null,
    description: null,
    source: { kind: "upload" },
  },
  now,
);

test.each([
  ["pending", false],
  ["analyzing", false],
  ["building", false],
  ["deploying", false],
  ["ready", true],
  ["error", true],
] as const)("a build that serves and is %s is shown as live: %s", (status, isLive) => {
  expect(singleBuildReply({ ...row, status }, "bld_1").isLive).toBe(isLive);
  expect(singleBuildReply({ ...row, status }, "bld_2").isLive).toBe(false);
  expect(singleBuildReply({ ...row, status }, null).isLive).toBe(false);
  expect(singleBuildReply({ ...row, status }, undefined).isLive).toBe(false);
});

test("a live app that keeps crashing is a warning beside the build's own, and a finding", () => {
  const finding = { code: "missing_lock", message: "Commit the lock file.", file: "package.json", line: 1 };
  const warned = { ...row, warning: "GET / answers 404", findings: [finding] };
  const { warning, findings } = singleBuildReply(warned, "bld_1", "The app keeps crashing");
  expect(warning).toBe("GET / answers 404\nThe app keeps crashing");
  const crashing = { code: "app_crashing", message: "The app keeps crashing", file: null, line: null };
  expect(findings).toEqual([finding, crashing]);
  expect(singleBuildReply(warned, "bld_1").findings).toEqual([finding]);
  expect(singleBuildReply(row, "bld_1", "The app keeps crashing").warning).toBe("The app keeps crashing");
  expect(singleBuildReply(row, "bld_1")).toMatchObject({ warning: null, findings: [], detected: null });
});

test("what was detected is shown", () => {
  const detected = { rootDirectory: null, installCommand: "npm ci", buildCommand: null, startCommand: "node ." };
  expect(singleBuildReply({ ...row, detected } as never, null).detected).toEqual(detected);
});

test("eleven successes are kept, because one of them may be live", () => {
  const older = Array.from({ length: 20 }, (_, n) => `bld_${50 - n}`);
  expect(withSuccess(older, "bld_60")).toEqual(["bld_60", ...older.slice(0, 10)]);
});

test("an archive's key names its owner, and no other key does", () => {
  const [org, prj, bld] = [`org_${"a".repeat(26)}`, `prj_${"b".repeat(26)}`, `bld_${"c".repeat(26)}`];
  const key = archiveKey({ organizationId: org, projectId: prj, id: bld });
  expect(key).toBe(`archives/${org}/${prj}/${bld}.zip`);
  expect(archiveOwner(key)).toEqual({ organizationId: org, projectId: prj, buildId: bld });
  for (const other of [
    `x${key}`,
    `${key}x`,
    key.replace("org_a", "org_"),
    key.replace("prj_", "bld_"),
    "",
    "archives/",
  ]) {
    expect(archiveOwner(other)).toBeUndefined();
  }
});
