import { afterEach, describe, expect, it, vi } from "vitest";
import { retryConflicts } from "../../../../lambdas/http/retry.ts";

describe("an attempt that other requests are in the way of", () => {
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  it("is made again until it gives a result", async () => {
    let attempts = 0;
    const result = await retryConflicts("The thing", async () => {
      attempts += 1;
      return attempts < 5 ? undefined : { attempts };
    });
    expect(result).toEqual({ attempts: 5 });
  });

  it("is not made again when the next one would come after the time: 503, and the log says what kept changing", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    let attempts = 0;
    const attempt = async () => {
      attempts += 1;
      vi.setSystemTime(Date.now() + 400);
      return undefined;
    };
    const failed = { code: "unavailable", cause: { message: "The thing kept changing" } };
    await expect(retryConflicts("The thing", attempt, Date.now() + 1_000)).rejects.toMatchObject(failed);
    expect(attempts).toBe(3);
    await expect(retryConflicts("The thing", attempt, Date.now())).rejects.toMatchObject(failed);
    expect(attempts).toBe(4);
    vi.spyOn(Math, "random").mockReturnValue(0);
    await expect(retryConflicts("The thing", attempt)).rejects.toMatchObject(failed);
    expect(attempts).toBe(4 + Math.ceil(15_000 / 400));
  });

  it("is not made again after an error", async () => {
    const error = new Error("broken");
    const attempt = vi.fn(() => Promise.reject(error));
    await expect(retryConflicts("The thing", attempt)).rejects.toBe(error);
    expect(attempt).toHaveBeenCalledOnce();
  });
});
