import { describe, expect, it, test } from "vitest";
import { DatabaseError } from "../../../../lambdas/aws/errors.ts";
import { retryUntil } from "../../../../lambdas/tables/model/retry.ts";

describe("an attempt that others are in the way of", () => {
  const later = Date.now() + 60_000;

  it("is made again until it gives a result", async () => {
    const results = [undefined, undefined, "done"];
    expect(await retryUntil(later, async () => results.shift())).toBe("done");
  });

  it("is not made again when the request's time is over: 503", async () => {
    let attempts = 0;
    const attempt = async () => {
      attempts += 1;
      throw new DatabaseError("40001", null);
    };
    await expect(retryUntil(Date.now() - 1, attempt)).rejects.toMatchObject({ code: "unavailable" });
    expect(attempts).toBe(1);
  });

  test.each(["55P03", "40P01", "40001"])("is made again after %s", async (state) => {
    let refusals = 2;
    const result = await retryUntil(later, async () => {
      refusals -= 1;
      if (refusals >= 0) throw new DatabaseError(state, null);
      return "done";
    });
    expect(result).toBe("done");
  });

  it("passes every other error on", async () => {
    const error = new DatabaseError("23505", null);
    await expect(retryUntil(later, () => Promise.reject(error))).rejects.toBe(error);
  });
});
