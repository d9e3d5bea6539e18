import { expect, test } from "vitest";
import { secretHash } from "../../../../lambdas/http/presented-credential.ts";
import { newSignInLink, SignInLink } from "../../../../lambdas/sign-in/model/link.ts";

test("a sign-in link carries its code in the fragment, and its row holds the code's hash only", () => {
  const now = new Date("2026-11-20T01:02:03.456Z");
  const link = { userId: "usr_1", validSeconds: 900, consoleAddress: "http://localhost:4000/console" };
  const { url, write, codeHash, expiresAt } = newSignInLink(link, now);
  const code = /^http:\/\/localhost:4000\/console\/sign-in#code=(sll_[0-9a-z]{59})$/.exec(url)?.[1] ?? "";
  expect(codeHash).toBe(secretHash(code));
  expect(expiresAt).toBe("2026-11-20T01:17:03.456Z");
  expect(write.key).toEqual(SignInLink.key({ codeHash }));
  expect(JSON.stringify(write)).not.toContain(code.slice(4));
  expect(newSignInLink(link, now).codeHash).not.toBe(codeHash);
});
