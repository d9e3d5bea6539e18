import { describe, expect, test } from "vitest";
import { chromiumFile, expectAccessible, useConsole } from "./harness.ts";

describe.skipIf(!chromiumFile)("signing in to the console", () => {
  const get = useConsole();

  test("a one-time link signs in, leaves no code in the address, and leads to the projects", async () => {
    const { browser, origin, signInCode } = get();
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${origin}/console/sign-in#code=${await signInCode()}`);
    await page.getByRole("heading", { name: "Projects" }).waitFor();
    expect(page.url()).toMatch(/\/console\/orgs\/org_\w+$/);
    await expectAccessible(page);
    await page.goto(`${origin}/console`);
    await page.getByRole("heading", { name: "Projects" }).waitFor();
    await context.close();
  });

  test("without a session, an address of a page asks to sign in and then shows the page", async () => {
    const { browser, origin, signInCode, organization } = get();
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${origin}${organization}`);
    await page.getByRole("heading", { name: "Sign in to Slipway" }).waitFor();
    await expectAccessible(page);
    await page.getByLabel("Or paste a sign-in link").fill(`${origin}/console/sign-in#code=${await signInCode()}`);
    await page.getByRole("button", { name: "Sign in with the link" }).click();
    await page.getByRole("heading", { name: "Projects" }).waitFor();
    expect(page.url()).toBe(`${origin}${organization}`);
    await context.close();
  });

  test("a link that was used says so", async () => {
    const { browser, origin, signInCode } = get();
    const code = await signInCode();
    const context = await browser.newContext();
    await context.request.post(`${origin}/console/session`, { data: { code } });
    const page = await (await browser.newContext()).newPage();
    await page.goto(`${origin}/console/sign-in#code=${code}`);
    await expect.poll(() => page.getByRole("alert").textContent()).toContain("This link does not work any more");
    await page.context().close();
    await context.close();
  });
});
