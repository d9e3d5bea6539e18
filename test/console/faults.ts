import type { Page, Route } from "playwright-core";
import { describe, expect, test } from "vitest";
import { chromiumFile, despiteFault, expectAccessible, partsOf, useConsole } from "./harness.ts";

const refusal = (status: number, code: string, fields: object = {}, headers: Record<string, string> = {}) => ({
  status,
  headers,
  json: { status: "Refused", message: "A message.", code, requestId: "req_1", ...fields },
});

describe.skipIf(!chromiumFile)("sessions and faults in the console", () => {
  const get = useConsole();
  let page: Page;
  const { button, dialogButton, dialogField } = partsOf(() => page);

  const names = async () => {
    const { running } = get();
    const { body } = await running.call("GET", `/organizations/${running.seed.organizationId}/projects?limit=100`);
    return body.projects.map(({ name }: { name: string }) => name);
  };
  async function fillNewProject(name: string): Promise<void> {
    await button("New project").first().click();
    await dialogField("Name").fill(name);
  }
  const create = () => dialogButton("Create project").click();
  const alert = () => page.getByRole("alert");

  test("a session that ends while the user types asks to sign in, and then makes the typed change", async () => {
    const { visit, organization, signInCode } = get();
    page = await visit(organization, { sameDocument: true });
    await fillNewProject("Typed before");
    // The same as "Sign out everywhere" on another device.
    await page.evaluate(`fetch("/console/session").then((answer) => answer.json()).then(({ session }) =>
      fetch("/me/sessions", { method: "DELETE", headers: { authorization: "Bearer " + session.token } }))`);
    await create();
    await page.getByRole("heading", { name: "Your session has ended" }).waitFor();
    await expectAccessible(page);
    await page.getByLabel("Or paste a sign-in link").fill(await signInCode());
    await button("Sign in with the link").click();
    await page.getByRole("heading", { name: "Typed before", level: 1 }).waitFor();
    expect((await names()).filter((name: string) => name === "Typed before")).toHaveLength(1);
  });

  test("a page is shown also when its code arrives before the effects of its first drawing run", async () => {
    const { visit, project } = get();
    page = await visit(`${project}/keys?late`, {
      prepare: async (unloaded) => {
        await unloaded.addInitScript(`if (location.search === "?late") {
          const soon = setTimeout;
          window.setTimeout = (work, ms = 0, ...rest) => soon(work, ms + 700, ...rest);
          window.requestAnimationFrame = (work) => setTimeout(work);
        }`);
      },
    });
    await page.getByRole("heading", { name: "Keys", exact: true }).waitFor();
  });

  test("a bearer that is refused in the middle is renewed once for all callers, and the page goes on", async () => {
    const { visit, organization } = get();
    let refusals = 0;
    let renewals = 0;
    page = await visit(organization, {
      prepare: async (unloaded) => {
        await unloaded.route("**/console/session", (route) => {
          renewals += 1;
          return route.continue();
        });
        await unloaded.route("**/organizations", (route) => {
          refusals += 1;
          return refusals === 1 ? route.fulfill(refusal(401, "unauthorized")) : route.continue();
        });
      },
    });
    await page.getByRole("heading", { name: "Projects", exact: true }).waitFor();
    await page.getByLabel("Organization: Local", { exact: true }).waitFor();
    expect([refusals, renewals]).toEqual([2, 2]);
  });

  test("after 429, 503 and 500 the change can be made again, and counts once", async () => {
    const { visit, organization } = get();
    page = await visit(organization, { sameDocument: true });
    const faults = [
      {
        answer: refusal(429, "too_many_requests", {}, { "retry-after": "60" }),
        sentence: "Too many requests. Try again in 60 seconds.",
      },
      {
        answer: refusal(503, "unavailable", {}, { "retry-after": "40" }),
        sentence: "The service is busy for a moment. Try again in 40 seconds.",
      },
      { answer: refusal(500, "internal"), sentence: "Something went wrong in the service. Try again in a moment." },
    ];
    const answers = faults.map(({ answer }) => answer);
    await page.route("**/projects", (route: Route) => {
      const answer = route.request().method() === "POST" ? answers.shift() : undefined;
      return answer ? route.fulfill(answer) : route.continue();
    });
    await fillNewProject("After faults");
    await create();
    for (const { sentence } of faults) {
      await expect.poll(() => alert().allTextContents()).toEqual([expect.stringContaining(sentence)]);
      expect(await names()).not.toContain("After faults");
      await alert().getByRole("button", { name: "Try again" }).click();
    }
    await page.getByRole("heading", { name: "After faults", level: 1 }).waitFor();
    expect((await names()).filter((name: string) => name === "After faults")).toHaveLength(1);
  });

  test("without a network nothing is lost, and an answer that got lost does not make a second project", async () => {
    const { visit, organization } = get();
    page = await visit(organization, { sameDocument: true });
    await fillNewProject("Offline");
    await page.context().setOffline(true);
    await create();
    await alert().getByText("Your computer has no network connection.").waitFor();
    await expect.poll(() => dialogField("Name").inputValue()).toBe("Offline");
    await page.context().setOffline(false);
    let lost = 0;
    await page.route("**/projects", async (route: Route) => {
      if (route.request().method() !== "POST" || lost > 0) return route.continue();
      lost += 1;
      await route.fetch();
      return route.abort();
    });
    await alert().getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { name: "Offline", level: 1 }).waitFor();
    expect([lost, (await names()).filter((name: string) => name === "Offline").length]).toEqual([1, 1]);
  });

  test("a refusal names the managers or the role, and a wrong field says what is wrong with it", async () => {
    const { visit, organization } = get();
    page = await visit(organization, { sameDocument: true });
    const answers = [
      refusal(403, "not_a_manager", { managers: [{ id: "usr_1", name: "Grace <b>", email: "grace@example.com" }] }),
      refusal(403, "forbidden", { requiredRole: "admin" }),
      refusal(400, "invalid_request", { issues: [{ path: "name", message: "must have at most 128 characters" }] }),
    ];
    await page.route("**/projects", (route: Route) => {
      const answer = route.request().method() === "POST" ? answers.shift() : undefined;
      return answer ? route.fulfill(answer) : route.continue();
    });
    await fillNewProject("Refused");
    await create();
    await alert().getByText("Grace <b>").waitFor();
    await expect
      .poll(() => alert().textContent())
      .toMatch(/Only the managers of this project can do this.*grace@example\.com/);
    expect(await alert().getByRole("button").count()).toBe(0);
    await expectAccessible(page);
    await create();
    await alert().getByText("it needs the role admin", { exact: false }).waitFor();
    await create();
    await page.getByText("It must have at most 128 characters.", { exact: true }).waitFor();
    await expect.poll(() => dialogField("Name").getAttribute("aria-invalid")).toBe("true");
  });

  test("markup and right-to-left marks in names, titles, errors and logs are shown as text", async () => {
    const { visit, organization, project, running } = get();
    const hostile = '<img src=x onerror="document.title=1">\u202Eevil\u0007';
    const shown = '<img src=x onerror="document.title=1">';
    await running.call("PUT", running.project, { body: { name: hostile.replace("\u0007", "") } });
    const made = await running.call("POST", `${running.project}/builds`, { body: { title: hostile } });
    const id = made.body.build.id;
    const line = { at: "2026-11-20T10:00:00.000Z", stage: "building", text: `\u001b[31m${hostile}` };
    page = await visit(`${project}/builds/${id}`, {
      sameDocument: true,
      prepare: async (unloaded) => {
        await unloaded.route(`**/organizations/**/builds/${id}/logs?*`, (route) =>
          route.fulfill({ json: { lines: [line], nextCursor: null } }),
        );
        await unloaded.route(`**/organizations/**/builds/${id}`, async (route) => {
          const answer = await (await route.fetch()).json();
          const changed = { status: "error", error: `${hostile}\nLast output:\n${hostile}`, suggestion: hostile };
          const findings = [{ code: "bind_address", message: hostile, file: "<script>.js", line: 3 }];
          return route.fulfill({ json: { build: { ...answer.build, ...changed, findings } } });
        });
      },
    });
    await page.getByText("<script>.js:3").waitFor();
    await expect.poll(() => page.locator(".log-line").textContent()).toContain(shown);
    expect(await page.locator(".log-line").textContent()).not.toContain("\u001b");
    await expect.poll(() => page.getByRole("heading", { level: 1 }).textContent()).toContain(shown);
    expect(await page.locator("main img, main script").count()).toBe(0);
    await expect.poll(() => page.title()).toContain(shown);
    await expectAccessible(page);
    await page.getByRole("link", { name: "Slipway, home" }).click();
    await page.getByRole("main").getByRole("link", { name: shown, exact: false }).first().waitFor();
    expect(await page.locator("main img").count()).toBe(0);
    await expectAccessible(page);
    expect(page.url()).toMatch(new RegExp(`${organization}$`));
    await running.call("POST", `${running.project}/builds/${id}/cancel`);
  });

  test("the keyboard reaches everything, and a dialog gives the focus back", async () => {
    const { visit, organization } = get();
    page = await visit(organization);
    const menu = page.getByLabel("Organization: Local", { exact: true });
    // All that Tab passes on its way.
    await menu.waitFor();
    await button("New project").waitFor();
    const expectFocus = (text: string) =>
      expect.poll(() => page.evaluate("document.activeElement.textContent.trim()")).toBe(text);
    const expectFocusIn = (tag: string) => expect.poll(() => page.evaluate("document.activeElement.tagName")).toBe(tag);
    await page.keyboard.press("Tab");
    await expectFocus("Skip to the content");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await expectFocus("Local");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "All projects" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "All projects" }).waitFor({ state: "hidden" });
    await expectFocus("Local");
    await button("New project").focus();
    await page.keyboard.press("Enter");
    await expectFocusIn("INPUT");
    await page.keyboard.press("Escape");
    await expectFocus("New project");
    await page.getByRole("link", { name: "Organization", exact: true }).focus();
    await page.keyboard.press("Enter");
    await expectFocusIn("H1");
    await page.goBack();
    await page.getByRole("heading", { name: "Projects", exact: true }).waitFor();
    await page.goto(`${page.url()}/no/such/page`);
    await page.getByRole("heading", { name: "There is no such page" }).waitFor();
    await expectAccessible(page);
  });

  test("a passkey is added, signs in, and is deleted by its name; signing out everywhere ends the session", async () => {
    page = await get().visit("/console/account", { sameDocument: true });
    const devtools = await page.context().newCDPSession(page);
    await devtools.send("WebAuthn.enable");
    await devtools.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        protocol: "ctap2",
        transport: "internal",
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    await page.getByText("No passkey yet").waitFor();
    await expectAccessible(page);
    await button("Add a passkey").click();
    await dialogField("Name").fill("Laptop");
    await despiteFault(page, () => dialogButton("Add passkey").click());
    await page.getByRole("table", { name: "Passkeys" }).getByText("Laptop").waitFor();
    await expectAccessible(page);

    await button("Sign out").click();
    await button("Sign in with a passkey").click();
    await page.getByRole("table", { name: "Passkeys" }).getByText("Laptop").waitFor();

    await button("Delete Laptop").click();
    await expect.poll(() => dialogButton("Delete passkey").isDisabled()).toBe(true);
    await dialogField("Name").fill("Laptop");
    await expectAccessible(page);
    await despiteFault(page, () => dialogButton("Delete passkey").click());
    await page.getByText("No passkey yet").waitFor();

    const other = await fetch(`${get().origin}/console/session`, {
      method: "POST",
      headers: { "content-type": "application/json", "user-agent": "An old browser" },
      body: JSON.stringify({ code: await get().signInCode() }),
    });
    expect(other.status).toBe(201);
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await despiteFault(page, () => button("Sign out An old browser").click());
    await button("Sign out An old browser").waitFor({ state: "detached" });
    await despiteFault(page, () => button("Sign out everywhere").click());
    await page.getByRole("heading", { name: "Sign in to Slipway" }).waitFor();
    await devtools.detach();
    await page.reload();
    await page.getByRole("heading", { name: "Sign in to Slipway" }).waitFor();
  });
});
