import { describe, expect, test } from "vitest";
import { redeployBlockOf, redeployWindow, withSuccess } from "../../../../lambdas/builds/model/replies.ts";
import { fc } from "../../../harness/fast-check.ts";

/** One build of a history: how it ended, and whether another source was live for a while afterwards. */
const ending = fc.constantFrom("ready" as const, "error" as const, "canceled" as const, "running" as const);

interface Made {
  id: string;
  status: "ready" | "error" | "building";
  canceledAt?: string;
}

function history(endings: readonly ("ready" | "error" | "canceled" | "running")[]) {
  const builds: Made[] = [];
  let remembered: string[] = [];
  for (const [index, how] of endings.entries()) {
    const id = `bld_${String(index).padStart(26, "0")}`;
    const status = how === "ready" || how === "error" ? how : "building";
    builds.push({ id, status, ...(how === "canceled" && { canceledAt: "2026-11-20T00:00:00.000Z" }) });
    if (how !== "ready") continue;
    remembered = withSuccess(remembered, id);
    // A repeated step records the same success twice.
    if (index % 3 === 0) remembered = withSuccess(remembered, id);
  }
  return { builds, remembered };
}

describe("which builds can be redeployed", () => {
  test("are the ten most recent successful ones other than the live one, for any history", () => {
    fc.assert(
      fc.property(fc.array(ending, { maxLength: 60, size: "max" }), fc.nat(), (endings, pick) => {
        const { builds, remembered } = history(endings);
        const successful = builds.filter(({ status, canceledAt }) => status === "ready" && canceledAt === undefined);
        const lives = [null, ...successful.map(({ id }) => id)];
        const live = lives[pick % lives.length] ?? null;
        const oracle = successful
          .map(({ id }) => id)
          .filter((id) => id !== live)
          .slice(-10)
          .reverse();
        expect(redeployWindow(remembered, live)).toEqual(oracle);
        for (const build of builds) {
          const blocked = redeployBlockOf(build, live, remembered);
          expect(blocked === null).toBe(oracle.includes(build.id));
          if (build.canceledAt !== undefined) expect(blocked).toBe("canceled");
          else if (build.status !== "ready") expect(blocked).toBe("not_successful");
          else if (build.id === live) expect(blocked).toBe("live");
        }
      }),
      { numRuns: 500 },
    );
  });
});
