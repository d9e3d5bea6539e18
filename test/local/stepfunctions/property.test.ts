import { expect, test } from "vitest";
import { TaskError } from "../../../local/stepfunctions/interpreter/errors.ts";
import { fc } from "../../harness/fast-check.ts";
import { LAMBDA, lambdas, machine, startLocal, virtualClock } from "./harness.ts";

const errors = ["E1", "E2", "States.Timeout", "States.TaskFailed"];
const matchers = fc.constantFrom(["E1"], ["E2"], ["States.Timeout"], ["States.TaskFailed"], ["States.ALL"]);

/** A random state: every reference is the number of a state, taken modulo their count later. */
const state = fc.oneof(
  fc.record({ kind: fc.constant("pass" as const), next: fc.nat(), output: fc.boolean() }),
  fc.record({ kind: fc.constant("choice" as const), next: fc.nat(), other: fc.option(fc.nat()), limit: fc.nat(6) }),
  fc.record({ kind: fc.constant("wait" as const), next: fc.nat(), seconds: fc.nat(100_000) }),
  fc.record({
    kind: fc.constant("task" as const),
    next: fc.nat(),
    fails: fc.array(fc.constantFrom(...errors), { maxLength: 4 }),
    retry: fc.option(fc.record({ names: matchers, attempts: fc.nat(3), jitter: fc.boolean() })),
    catcher: fc.option(fc.record({ names: matchers, next: fc.nat() })),
    hangs: fc.boolean(),
  }),
  fc.record({ kind: fc.constantFrom("fail" as const, "succeed" as const, "broken" as const) }),
);
type Random = typeof state extends fc.Arbitrary<infer T> ? T : never;

function build(random: Random, index: number, count: number): unknown {
  const name = (n: number) => `S${n % count}`;
  const round = { Assign: { round: "{% $exists($round) ? $round + 1 : 1 %}" } };
  switch (random.kind) {
    case "pass":
      return { Type: "Pass", ...round, Next: name(random.next), ...(random.output ? { Output: { at: index } } : {}) };
    case "choice":
      return {
        Type: "Choice",
        Choices: [{ Condition: `{% $exists($round) and $round < ${random.limit} %}`, Next: name(random.next) }],
        ...(random.other === null ? {} : { Default: name(random.other) }),
      };
    case "wait":
      return { Type: "Wait", Seconds: random.seconds, ...round, Next: name(random.next) };
    case "task":
      return {
        Type: "Task",
        Resource: LAMBDA,
        Arguments: { FunctionName: random.hangs ? "hang" : "f", Payload: { fails: random.fails, index } },
        TimeoutSeconds: 30,
        ...(random.retry && {
          Retry: [
            {
              ErrorEquals: random.retry.names,
              MaxAttempts: random.retry.attempts,
              JitterStrategy: random.retry.jitter ? "FULL" : "NONE",
            },
          ],
        }),
        ...(random.catcher && { Catch: [{ ErrorEquals: random.catcher.names, Next: name(random.catcher.next) }] }),
        Next: name(random.next),
      };
    case "fail":
      return { Type: "Fail", Error: "Failed" };
    case "succeed":
      return { Type: "Succeed" };
    case "broken":
      return { Type: "Pass", Output: "{% $states.input.absent.absent %}", End: true };
  }
}

/** Keeps only the states that can be reached from the first, because the loader refuses others. */
function reachable(states: Record<string, unknown>): Record<string, unknown> {
  const names = new Set(["S0"]);
  for (const name of names) {
    for (const [, next] of JSON.stringify(states[name]).matchAll(/"(?:Next|Default)":"(S\d+)"/g)) names.add(next ?? "");
  }
  return Object.fromEntries([...names].map((name) => [name, states[name]]));
}

test("with any machine, every execution ends, is reported once, and leaves nothing behind", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(state, { minLength: 1, maxLength: 6 }), async (random) => {
      const clock = virtualClock(true);
      const states = random.map((one, index) => [`S${index}`, build(one, index, random.length)] as const);
      const calls = new Map<number, number>();
      const local = await startLocal({
        definition: machine(reachable(Object.fromEntries(states)), { TimeoutSeconds: 500_000 }),
        clock,
        integrations: lambdas({
          f(payload) {
            const { fails, index } = payload as { fails: string[]; index: number };
            const call = calls.get(index) ?? 0;
            calls.set(index, call + 1);
            const error = fails[call];
            if (error !== undefined) throw new TaskError(error);
            return { index };
          },
          hang: () => new Promise(() => {}),
        }),
      });
      const arns = await Promise.all([1, 2, 3].map((n) => local.start({ n })));
      await local.sfn.idle();
      for (const arn of arns) expect((await local.describe(arn)).status).not.toBe("RUNNING");
      const told = local.events.map((event) => `${event.detail.status === "RUNNING"} ${event.detail.executionArn}`);
      expect(told).toHaveLength(6);
      expect(new Set(told).size).toBe(6);
      await local.sfn.close();
    }),
    { numRuns: 40 },
  );
});
