import middy from "@middy/core";
import { describe, expect, test } from "vitest";
import { routes } from "../../../../api/index.ts";
import { authenticate, inputProblem, validate } from "../../../../lambdas/http/authenticate.ts";
import type { HttpInput } from "../../../../lambdas/http/parse.ts";
import { Problem } from "../../../../lambdas/http/problem.ts";
import { TableClient } from "../../../../lambdas/http/tools.ts";

const routeOf = (needed: string) => {
  const route = routes.find(({ definition }) => (definition.credential ?? "needed") === needed);
  if (!route) throw new Error(`No route has the credential ${needed}`);
  return route;
};
type Hook = Parameters<NonNullable<ReturnType<typeof authenticate>["after"]>>[0];
const guarded = () => authenticate(routeOf("needed"), () => ({}), new TableClient());

describe("a route that needs a credential", () => {
  test("refuses a request without one", async () => {
    const request = { context: { input: { params: {} } } } as unknown as Hook;
    await expect((async () => guarded().before?.(request))()).rejects.toThrow("A valid credential is required.");
  });

  test.each([undefined, { proved: () => false }])("gives no answer before it has proved its caller: %j", (access) => {
    const request = { context: { access } } as unknown as Hook;
    expect(() => guarded().after?.(request)).toThrow("answered without proving its caller");
  });

  test("gives the answer of a proved caller", () => {
    const request = { context: { access: { proved: () => true } } } as unknown as Hook;
    expect(() => guarded().after?.(request)).not.toThrow();
  });
});

describe("a route that is called without a credential", () => {
  const open = routeOf("none");

  test("answers without a proof of the caller", async () => {
    const chain = middy(async () => "an answer").use(authenticate(open, () => ({}), new TableClient()) as object);
    expect(await (chain as unknown as () => Promise<string>)()).toBe("an answer");
  });

  test("refuses a bad input without one too", async () => {
    const request = { context: { input: { issues: [{ path: "code", message: "is wrong" }] } } } as unknown as Hook;
    const early = { ...open, definition: { ...open.definition, lateValidation: undefined } };
    await expect((async () => validate(early).before?.(request))()).rejects.toThrow("code is wrong");
  });
});

describe("the problem of an input", () => {
  const input = (more: Partial<HttpInput>) => ({ issues: [], tooLarge: undefined, ...more }) as unknown as HttpInput;
  const issue = { path: "a", message: "is wrong" };
  const more = { path: "", message: "is more" };

  test("is every broken rule, or that it is too large", () => {
    expect(inputProblem(input({}))).toBeUndefined();
    expect(inputProblem(input({ issues: [issue] }), [more])).toMatchObject({
      code: "invalid_request",
      message: "The request breaks a rule: a is wrong; is more.",
      fields: { issues: [issue, more] },
    });
    expect(inputProblem(input({}), [more])?.fields).toEqual({ issues: [more] });
    const tooLarge = new Problem("body_too_large", "Too large.");
    expect(inputProblem(input({ issues: [issue], tooLarge }))).toBe(tooLarge);
  });
});
