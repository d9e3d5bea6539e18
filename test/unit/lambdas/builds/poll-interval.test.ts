import { expect, test } from "vitest";
import { pollAfterSeconds } from "../../../../lambdas/builds/model/replies.ts";

const created = "2026-11-20T00:00:00.000Z";

test.each([
  [0, 1],
  [14.999, 1],
  [15, 2],
  [59.999, 2],
  [60, 5],
  [299.999, 5],
  [300, 15],
  [3600, 15],
])("a build is read again after: %d seconds old, %d seconds", (ageSeconds, seconds) => {
  expect(pollAfterSeconds(created, new Date(Date.parse(created) + ageSeconds * 1000))).toBe(seconds);
});
