import { expect, test } from "vitest";
import {
  collectEvidence,
  differences,
  exitCodeIn,
  failedStage,
  type Line,
  lastProbeIn,
  nextStep,
  splitError,
  withinLength,
} from "../../../../lambdas/mcp/model/evidence.ts";
import { buildFailedReason } from "../../../../lambdas/pipeline/model/failures.ts";
import {
  exitReason,
  rollbackSentence,
  unhealthyReason,
  withOutput,
} from "../../../../lambdas/pipeline/model/health.ts";

const line =
  (stage: string) =>
  (text: string): Line => ({ stage, text });
const probing = { events: [], output: [], port: 8080, path: "/" };
const failed = (reason: string, output: string[] = []) => `${rollbackSentence(false)} ${withOutput(reason, output)}`;

test.each([
  [failed(exitReason({ code: 3, reason: undefined, afterSeconds: 1.2 }), ["boom"]), "deploying", 3, null],
  [
    failed(unhealthyReason({ ...probing, probe: { status: 502 } })),
    "deploying",
    null,
    "The last probe, GET /, was answered with 502",
  ],
  [
    failed(unhealthyReason({ ...probing, probe: { failure: "timeout" } })),
    "deploying",
    null,
    "The last probe, GET /, got no answer within 5 s",
  ],
  [
    failed(unhealthyReason({ ...probing, probe: { failure: "refused" } })),
    "deploying",
    null,
    "Nothing is listening on port 8080",
  ],
  [buildFailedReason(["npm ERR! x", "npm ci failed with exit code 1"]), "building", 1, null],
  ["The release command ended with exit code 2, so nothing was deployed.", "releasing", 2, null],
  ["The archive is encrypted.", "analyzing", null, null],
])("the stage, exit code and last probe of: %s", (error, stage, exitCode, probe) => {
  const { reason } = splitError(error);
  expect([failedStage({ error, size: 1 }, undefined), exitCodeIn(reason), lastProbeIn(reason)]).toEqual([
    stage,
    exitCode,
    probe,
  ]);
});

test("a build whose archive never came failed while it was pending", () => {
  expect(failedStage({ error: "No archive was uploaded.", size: null }, undefined)).toBe("pending");
});

test("a long log is read page by page: its first and last errors, its last lines, and what was detected", () => {
  const pages = [
    [line("building")("Detected: nodejs24.x with npm. Started with: npm start"), line("building")("error: first")],
    Array.from({ length: 1000 }, (_, index) => line("building")(`error ${index}`)),
    [
      line("deploying")("error: the last"),
      ...Array.from({ length: 9 }, (_, index) => line("deploying")(`line ${index}`)),
    ],
  ];
  let evidence: ReturnType<typeof collectEvidence> | undefined;
  for (const page of pages) evidence = collectEvidence(evidence, page);
  expect(evidence?.detected).toContain("nodejs24.x with npm");
  expect(evidence?.firstErrors[0]?.text).toBe("error: first");
  expect(evidence?.lastErrors.at(-1)?.text).toBe("error: the last");
  expect(evidence?.last.map(({ text }) => text)).toEqual(Array.from({ length: 8 }, (_, index) => `line ${index + 1}`));
});

test("the differences to the live build are those of runtime, plan, size, title and settings, in both directions", () => {
  const setting = (message: string) => ({ code: "setting", message });
  const build = { runtime: "nodejs24.x", size: 2, title: "b", detected: "npm start", findings: [setting("memory")] };
  const live = { runtime: "nodejs22.x", size: 2, title: "a", detected: "npm start", findings: [setting("healthPath")] };
  expect(differences(build, live)).toEqual({
    runtime: { this: "nodejs24.x", live: "nodejs22.x" },
    title: { this: "b", live: "a" },
    settings: { this: ["memory"], live: ["healthPath"] },
  });
  expect(differences(live, live)).toEqual({});
});

test.each([
  ["deploying", "Error: GREETING is not set", /set_variable/],
  ["deploying", "Set the variable API_KEY (slipway env set API_KEY=…), then deploy or rebuild.", /set_variable/],
  ["deploying", "KeyError: 'API_KEY'", /set_variable/],
  ["deploying", "the module was required twice, its name is undefined", /PORT/],
  ["building", "npm ERR! 404", /first error line/],
  ["pending", "No archive was uploaded", /create_build again/],
])("the next step after %s: %s", (stage, evidence, step) => expect(nextStep(stage, evidence)).toMatch(step));

test("a diagnosis never has more characters than its limit, whatever apps wrote", () => {
  const long = '"\\'.repeat(10_000);
  const value = {
    reason: long,
    suggestion: long,
    lastLines: Array.from({ length: 8 }, () => long),
    firstErrorLines: Array.from({ length: 4 }, () => long),
    stillServing: { differences: { settings: { this: Array.from({ length: 9 }, () => long) } } },
    nextStep: "Short.",
  };
  const short = withinLength(value, 5_000);
  expect(JSON.stringify(short).length).toBeLessThanOrEqual(5_000);
  expect(short).toMatchObject({ nextStep: "Short.", lastLines: expect.arrayContaining([expect.any(String)]) });
  expect(withinLength({ reason: "as it is" }, 5_000)).toEqual({ reason: "as it is" });
});
