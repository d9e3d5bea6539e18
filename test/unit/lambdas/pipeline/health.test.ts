import { describe, expect, test } from "vitest";
import {
  answerWarning,
  exitReason,
  isHealthyAnswer,
  listeningPlace,
  loopbackReason,
  type Probe,
  rollbackSentence,
  unhealthyReason,
  withOutput,
} from "../../../../lambdas/pipeline/model/health.ts";

test.each<[Probe, boolean]>([
  [{ status: 200 }, true],
  [{ status: 404 }, true],
  [{ status: 499 }, true],
  [{ status: 500 }, false],
  [{ status: 503 }, false],
  [{ failure: "refused" }, false],
  [{ failure: "timeout" }, false],
])("a probe that gives %j is healthy: %s", (probe, isHealthy) => {
  expect(isHealthyAnswer(probe)).toBe(isHealthy);
});

test.each<[Probe, boolean]>([
  [{ status: 200 }, false],
  [{ status: 399 }, false],
  [{ status: 400 }, true],
  [{ status: 401 }, false],
  [{ status: 402 }, true],
  [{ status: 403 }, false],
  [{ status: 404 }, true],
  [{ failure: "broken" }, false],
])("a healthy answer of %j gives a warning: %s", (probe, isWarned) => {
  expect(answerWarning(probe, "/") !== null).toBe(isWarned);
});

test("a warning names the path and the status, and what to correct", () => {
  expect(answerWarning({ status: 404 }, "/")).toBe(
    "The app runs, but GET / answered 404. If that is not intended, check its routes.",
  );
  expect(answerWarning({ status: 404 }, "/up")).toBe(
    "The app runs, but GET /up answered 404. If that is not intended, correct healthPath, or the app's routes.",
  );
});

test.each([
  [{ code: 1, reason: undefined, afterSeconds: 1.25 }, "The app exited with code 1 after 1.3 s before it was healthy."],
  [{ code: 1, reason: "x", afterSeconds: undefined }, "The app exited with code 1 before it was healthy."],
  [
    { code: 0, reason: undefined, afterSeconds: 0 },
    "The app exited with code 0 after 0.0 s before it was healthy. It has to keep running and answer requests.",
  ],
  [
    { code: undefined, reason: "CannotPullContainerError", afterSeconds: 1 },
    "The app could not be started: CannotPullContainerError.",
  ],
  [
    { code: 137, reason: "Essential container in task exited", afterSeconds: 2, memory: 512 },
    "The app exited with code 137 after 2.0 s before it was healthy, because it used more than its 512 MiB of memory. Raise the setting memory, or let the app use less.",
  ],
  [{ code: undefined, reason: undefined, afterSeconds: 1 }, "The app could not be started: ECS gave no reason."],
])("the exit %j is told", (exit, sentence) => {
  expect(exitReason(exit)).toBe(sentence);
});

describe("where the app listens", () => {
  const place = (...events: string[]) => listeningPlace(events);

  test("is read from the newest event about a target that is unhealthy", () => {
    const listens = (where: string) => `(target 1) is unhealthy; it listens on ${where}; more`;
    expect(place("registered", listens("port 3000"), listens("port 4000"))).toEqual({ ports: "port 3000" });
    expect(place("it listens on port 3000")).toBeUndefined();
    expect(place(listens("no port"))).toBeUndefined();
    expect(place("(target 1) is unhealthy (it listens on port 3000)")).toEqual({ ports: "port 3000" });
    expect(place(listens("127.0.0.1 only"))).toEqual({ loopback: "127.0.0.1" });
    expect(place(listens("port 1 only here"))).toEqual({ ports: "port 1 only here" });
    expect(place()).toBeUndefined();
  });

  test("on a loopback address is told with what to do", () => {
    expect(loopbackReason("127.0.0.1")).toBe(
      "Your app listens on 127.0.0.1 only, so no request from outside its container reaches it. Listen on 0.0.0.0.",
    );
  });
});

describe("why a version is not healthy", () => {
  const reason = (more: Partial<Parameters<typeof unhealthyReason>[0]>) =>
    unhealthyReason({ probe: { failure: "refused" }, events: [], output: [], port: 8080, path: "/", ...more });
  const unhealthy = (detail: string) => `(target 1) is unhealthy${detail}`;
  const advice = "Listen on the port in the environment variable PORT, on 0.0.0.0.";
  const elsewhere = (where: string) => `Your app listens on ${where}, but requests arrive on port 8080. ${advice}`;
  const nothing = `Nothing is listening on port 8080. ${advice}`;

  test("an answer of 500 or more, of a probe or of the gateway's health check", () => {
    const answered = (status: number) =>
      `The last probe, GET /, was answered with ${status}; any answer below 500 is healthy.`;
    expect(reason({ probe: { status: 500 } })).toBe(answered(500));
    expect(reason({ probe: { status: 499 } })).toBe(nothing);
    expect(reason({ events: ["started", unhealthy(" with codes: [503]")] })).toBe(answered(503));
    expect(reason({ events: ["codes: [503]"] })).toBe(nothing);
    expect(reason({ probe: { status: 200 }, events: [unhealthy(" with codes: [503]")] })).toBe(nothing);
  });

  test("an address or a port that no request reaches", () => {
    expect(reason({ events: [unhealthy("; it listens on ::1 only")] })).toBe(loopbackReason("::1"));
    expect(reason({ events: [unhealthy("; it listens on port 3000")] })).toBe(elsewhere("port 3000"));
    expect(reason({ events: [unhealthy("; it listens on port 3000")], output: ["listening on 4000"] })).toBe(
      elsewhere("port 3000"),
    );
  });

  test.each([
    ["Server listening on port 3000", "port 3000"],
    ["running at http://localhost:5173/", "port 5173"],
    ["Started server on 0.0.0.0:3000", "port 3000"],
    ["serving on :10000", "port 10000"],
    ["Ready on 4321", "port 4321"],
  ])("the port that the app names itself: %s", (line, where) => {
    expect(reason({ output: ["listening on 9999", line, "GET /health"] })).toBe(elsewhere(where));
  });

  test.each(["listening on port 8080", "listening on port 123", "worker 3000", "", "listening on port 123456"])(
    "no port where the app says '%s'",
    (line) => {
      expect(reason({ output: [line] })).toBe(nothing);
    },
  );

  test("no answer in time", () => {
    const late = "The last probe, GET /, got no answer within 5 s.";
    expect(reason({ probe: { failure: "timeout" } })).toBe(late);
    expect(reason({ events: [unhealthy(": Request timed out")] })).toBe(late);
    expect(reason({ events: ["Request timed out"] })).toBe(nothing);
    expect(reason({ probe: { failure: "broken" } })).toBe(nothing);
    expect(reason({ probe: undefined })).toBe(nothing);
  });

  test("another path than / may be the cause", () => {
    const set = " The path is the setting healthPath: correct it if the app has another.";
    expect(reason({ path: "/up", probe: { status: 500 } })).toBe(
      `The last probe, GET /up, was answered with 500; any answer below 500 is healthy.${set}`,
    );
    expect(reason({ path: "/up", probe: { failure: "timeout" } })).toBe(
      `The last probe, GET /up, got no answer within 5 s.${set}`,
    );
  });
});

describe("the whole reason", () => {
  test("ends with what was detected and the last twenty lines that are not empty", () => {
    const output = Array.from({ length: 25 }, (_, index) => `line ${index}`);
    expect(withOutput("It failed.", [...output, " ", ""], "Detected: nodejs24.x.")).toBe(
      ["It failed.", "Detected: nodejs24.x.", "Last output:", ...output.slice(5)].join("\n"),
    );
  });

  test("says that there was no output", () => {
    expect(withOutput("It failed.", [" "])).toBe("It failed.\nThe app wrote no output.");
  });

  test.each(["executable file not found in $PATH.", "stat /app/nodee: no such file or directory"])(
    "says that a program is missing: %s",
    (problem) => {
      const reason = `CannotStartContainerError: exec: "nodee": ${problem}`;
      expect(withOutput(reason, [])).toBe(
        `${reason}\nThe program nodee is not in the image: correct the start command, or add the package that contains it to the app's dependencies.\nThe app wrote no output.`,
      );
    },
  );

  test("begins with what serves now", () => {
    expect(rollbackSentence(true)).toBe(
      "The new version did not become healthy, so the previous version keeps serving.",
    );
    expect(rollbackSentence(false)).toBe("The version did not become healthy, and nothing is running.");
  });
});
