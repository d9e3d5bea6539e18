import { expect, test } from "vitest";
import type { OperatorTools } from "../../../../lambdas/operator/command.ts";
import { activateDomain } from "../../../../lambdas/operator/projects.ts";

test("a domain that nothing routes is not activated, and the message says what to use", async () => {
  const tools = { customDomains: { routed: false } } as OperatorTools;
  await expect(activateDomain({ projectId: "prj_1", domain: "shop.example.com" }, tools)).rejects.toMatchObject({
    code: "invalid_request",
    message: expect.stringContaining(
      "no request to a custom domain reaches its app yet; use the project's own address",
    ),
  });
});
