import { threadId } from "node:worker_threads";
import { afterEach, expect, test, vi } from "vitest";
import { handler as analyze } from "../../../lambdas/pipeline/analyze.ts";
import { type FunctionThread, functionThread } from "../../../local/lambda/function-thread.ts";
import { createFunctions } from "../../../local/lambda/functions.ts";

const busyPath = "../test/local/lambda/busy-function";
const threads: FunctionThread[] = [];
function busyFunction(): FunctionThread["handler"] {
  const thread = functionThread(busyPath);
  threads.push(thread);
  return thread.handler;
}
afterEach(async () => {
  for (const thread of threads.splice(0)) await thread.close();
  vi.unstubAllEnvs();
});

test("requests are served while a function computes", async () => {
  const busy = busyFunction();
  await busy({}, {});
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 10);
  await busy({ busyMs: 1_000 }, {});
  clearInterval(timer);
  expect(turns).toBeGreaterThan(5);
});

test("a function runs in another thread, and its error keeps its name", async () => {
  const busy = busyFunction();
  const [first, second] = await Promise.all([busy({}, {}), busy({}, {})]);
  expect(first).toBe(second);
  expect(first).not.toBe(threadId);
  await expect(busy({ throws: "BuildRejected" }, {})).rejects.toMatchObject({
    name: "BuildRejected",
    message: "as told",
  });
});

test("a thread that exits fails its running calls, and the next call gets a new thread", async () => {
  const busy = busyFunction();
  const before = await busy({}, {});
  await expect(busy({ ends: true }, {})).rejects.toThrow("The thread of the function has ended.");
  expect(await busy({}, {})).not.toBe(before);
});

test("the thread of a service that has ended is used again, by a function of its own that reads the new environment", async () => {
  const [first, second] = [functionThread(busyPath), functionThread(busyPath)];
  threads.push(first, second);
  vi.stubEnv("BUSY_SERVICE", "one");
  const thread = await first.handler({}, {});
  expect(await first.handler({ reads: "BUSY_SERVICE" }, {})).toBe("one");
  vi.stubEnv("BUSY_SERVICE", "two");
  expect(await first.handler({ reads: "BUSY_SERVICE" }, {})).toBe("one");
  expect(await second.handler({}, {})).not.toBe(thread);
  await Promise.all([first.close(), second.close()]);
  const third = functionThread(busyPath);
  threads.push(third);
  expect(await third.handler({}, {})).toBe(thread);
  expect(await third.handler({ reads: "BUSY_SERVICE" }, {})).toBe("two");
});

test("a service that ends ends its running calls", async () => {
  const thread = functionThread(busyPath);
  const call = thread.handler({ busyMs: 600_000 }, {});
  await Promise.all([expect(call).rejects.toThrow("The thread of the function has ended."), thread.close()]);
});

test("only the analysis runs in a thread of its own", async () => {
  const functions = createFunctions();
  try {
    expect(await functions.handler("analyze")).not.toBe(analyze);
    const own = await import("../../../lambdas/organizations/ping.ts");
    expect(await functions.handler("ping")).toBe(own.handler);
    await expect(functions.invoke("analyze", {})).rejects.toMatchObject({ errorType: "ZodError" });
  } finally {
    await functions.close();
  }
});

test("the services of a process load functions of their own, once each", async () => {
  const [first, second] = [createFunctions(), createFunctions("2")];
  expect(await second.handler("ping")).not.toBe(await first.handler("ping"));
  expect(await second.handler("ping")).toBe(await second.handler("ping"));
});
