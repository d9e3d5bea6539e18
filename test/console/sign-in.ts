import type { Page } from "playwright-core";
import { beforeEach, describe, expect, test } from "vitest";
import { chromiumFile, despiteFault, expectAccessible, useConsole } from "./harness.ts";

describe.skipIf(!chromiumFile)("signing in to the console", () => {
  const get = useConsole();
  let page: Page;
  beforeEach(async () => {
    page = await get().visitSignedOut();
  });

  test("a one-time link signs in, leaves no code in the address, and leads to the projects", async () => {
    const { origin, signInCode } = get();
    await page.goto(`${origin}/console/sign-in#code=${await signInCode()}`);
    await page.getByRole("heading", { name: "Projects", exact: true }).waitFor();
    expect(page.url()).toMatch(/\/console\/orgs\/org_\w+$/);
    await expectAccessible(page);
    await page.goto(`${origin}/console`);
    await page.getByRole("heading", { name: "Projects", exact: true }).waitFor();
  });

  test("without a session, an address of a page asks to sign in and then shows the page", async () => {
    const { origin, signInCode, organization } = get();
    await page.goto(`${origin}${organization}`);
    await page.getByRole("heading", { name: "Sign in to Slipway" }).waitFor();
    await expectAccessible(page);
    await page.getByLabel("Or paste a sign-in link").fill(`${origin}/console/sign-in#code=${await signInCode()}`);
    await page.getByRole("button", { name: "Sign in with the link" }).click();
    await page.getByRole("heading", { name: "Projects", exact: true }).waitFor();
    expect(page.url()).toBe(`${origin}${organization}`);
  });

  test("a user without an organization makes the first one", async () => {
    const { origin, signInCode, running } = get();
    const { user } = await running.operator("create-user", { email: "new@example.com", name: "New" });
    await page.goto(`${origin}/console/sign-in#code=${await signInCode(user?.id)}`);
    await page.getByRole("heading", { name: "Welcome to Slipway" }).waitFor();
    await expectAccessible(page);
    await page.getByLabel("Name of your organization", { exact: true }).fill("Harbor");
    await despiteFault(page, () => page.getByRole("button", { name: "Create organization" }).click());
    await page.getByRole("heading", { name: "No projects yet" }).waitFor();
    await expectAccessible(page);
  });

  test("a link that was used says so", async () => {
    const { origin, signInCode } = get();
    const code = await signInCode();
    const used = await fetch(`${origin}/console/session`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code }),
    });
    expect(used.status).toBe(201);
    await page.goto(`${origin}/console/sign-in#code=${code}`);
    await expect.poll(() => page.getByRole("alert").textContent()).toContain("This link does not work any more");
  });
});
