import { expect, test } from "vitest";
import { singleBuildReply } from "../../../../lambdas/builds/model/replies.ts";
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
