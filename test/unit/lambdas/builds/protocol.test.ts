import { describe, expect, test } from "vitest";
import { type Build, type Event, events, isOver, type Safeguard, type State, safeguards } from "./protocol.ts";

/** What must hold in every state (docs/architecture.md, A build's path); a counterexample breaks one of them. */
const invariants: Record<string, (state: State, found: Event[]) => boolean> = {
  "one build at a time": ({ builds }) => builds.filter((build) => !isOver(build)).length <= 1,
  "a running build holds the lock": ({ builds, lock }) => builds.every((build, id) => isOver(build) || lock === id),
  "a lock's build is running": ({ builds, lock }) => lock === null || !isOver(builds[lock] as Build),
  "a canceled build neither deploys nor is ready": ({ builds }) =>
    builds.every(({ canceled, status }) => !canceled || !["deploying", "ready"].includes(status)),
  "ready is the last word": ({ builds }) =>
    builds.every(({ status, step }) => status !== "ready" || ["over", "finish", "died"].includes(step)),
  "between swaps, the newest ready build serves": ({ builds, live }) => {
    const newest = builds.findLastIndex(({ status }) => status === "ready");
    return builds.some(({ status }) => status === "deploying") || live === (newest < 0 ? null : newest);
  },
  "every build ends, or waits for its upload": ({ builds }, found) =>
    builds.every((build, id) => isOver(build) || build.step === "wait" || found.some(({ system }) => system === id)),
  "no upload is lost": ({ builds }) =>
    builds.every(({ step, upload, canceled }) => canceled || step !== "wait" || upload !== "event gone"),
};

interface Verdict {
  states: number;
  /** The broken rule, and the events that led to it. */
  broken?: { invariant: string; trace: string[] };
}

/** Breadth first through every state that can be reached, so that a counterexample is a shortest one. */
function search(buildsMax: number, dropped?: Safeguard): Verdict {
  const first = JSON.stringify({ builds: [], lock: null, live: null });
  const cameFrom = new Map<string, { from: string; name: string } | undefined>([[first, undefined]]);
  const traceTo = (key: string) => {
    const trace: string[] = [];
    for (let at = cameFrom.get(key); at; at = cameFrom.get(at.from)) trace.unshift(at.name);
    return trace;
  };
  // A Map iterates in insertion order, including entries added during the iteration, so it is also the queue.
  for (const key of cameFrom.keys()) {
    const state: State = JSON.parse(key);
    const found = events(state, buildsMax, dropped);
    const invariant = Object.keys(invariants).find((name) => !invariants[name]?.(state, found));
    if (invariant) return { states: cameFrom.size, broken: { invariant, trace: traceTo(key) } };
    for (const { name, next } of found) {
      const reached = JSON.stringify(next);
      if (!cameFrom.has(reached)) cameFrom.set(reached, { from: key, name });
    }
  }
  return { states: cameFrom.size };
}

/** The first rule that breaks if a safeguard is removed. */
const counterexamples: Record<Safeguard, string> = {
  "create takes the lock in its own transaction": "one build at a time",
  "a lock without an execution gets one": "every build ends, or waits for its upload",
  "who stores the upload's token looks for the upload": "no upload is lost",
  "a boundary refuses a canceled build": "a canceled build neither deploys nor is ready",
  "a boundary names the status before it": "a running build holds the lock",
  "cancel refuses a build that is deploying": "a canceled build neither deploys nor is ready",
  "cancel frees the project in its own transaction": "a lock's build is running",
  "a lock is released by its owner only": "a running build holds the lock",
  "the write that sets deploying records what serves": "between swaps, the newest ready build serves",
  "ready is written after the swap is confirmed": "ready is the last word",
  "an end frees the project in its own transaction": "a lock's build is running",
  "an execution that died has its build ended": "every build ends, or waits for its upload",
  "an interrupted swap is put back": "between swaps, the newest ready build serves",
};

describe("the protocol of builds, searched to its end", () => {
  test("three builds: every invariant holds in every state", { timeout: 60_000 }, () => {
    const verdict = search(3);
    expect(verdict.broken).toBeUndefined();
    expect(verdict.states).toBeGreaterThan(10_000);
  });

  test.each(safeguards)("without “%s” it breaks", (safeguard) => {
    const { broken } = search(2, safeguard);
    expect(broken?.invariant, broken?.trace.join(", ")).toBe(counterexamples[safeguard]);
  });
});
