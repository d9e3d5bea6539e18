import type { Page, Route } from "playwright-core";
import { describe, expect, test } from "vitest";
import { chromiumFile, expectAccessible, useConsole } from "./harness.ts";

const refusal = (status: number, code: string, fields: object = {}, headers: Record<string, string> = {}) => ({
  status,
  headers,
  json: { status: "Refused", message: "A message.", code, requestId: "req_1", ...fields },
});

describe.skipIf(!chromiumFile)("sessions and faults in the console", () => {
  const get = useConsole();

  const names = async () => {
    const { running } = get();
    const { body } = await running.call("GET", `/organizations/${running.seed.organizationId}/projects?limit=100`);
    return body.projects.map(({ name }: { name: string }) => name);
  };
  async function fillNewProject(page: Page, name: string): Promise<void> {
    await page.getByRole("button", { name: "New project" }).first().click();
    await page.getByLabel("Name").fill(name);
  }
  const create = (page: Page) => page.getByRole("button", { name: "Create project" }).click();
  const alert = (page: Page) => page.getByRole("alert");

  test("a session that ends while somebody types asks to sign in, and then makes what was typed", async () => {
    const { open, organization, running, signInCode } = get();
    const page = await open(organization);
    await fillNewProject(page, "Typed before");
    const { user } = await running.operator("create-user", { email: `${Date.now()}@example.com`, name: "Other" });
    // The same as "Sign out everywhere" on another device.
    await page.evaluate(`fetch("/console/session").then((answer) => answer.json()).then(({ session }) =>
      fetch("/me/sessions", { method: "DELETE", headers: { authorization: "Bearer " + session.token } }))`);
    await create(page);
    await page.getByRole("heading", { name: "Your session has ended" }).waitFor();
    await expectAccessible(page);
    await page.getByLabel("Or paste a sign-in link").fill(await signInCode());
    await page.getByRole("button", { name: "Sign in with the link" }).click();
    await page.getByRole("heading", { name: "Typed before" }).waitFor();
    expect((await names()).filter((name: string) => name === "Typed before")).toHaveLength(1);
    expect(user?.id).toMatch(/^usr_/);
    await page.context().close();
  });

  test("a bearer that is refused in the middle is renewed once for all callers, and the page goes on", async () => {
    const { open, organization } = get();
    let refusals = 0;
    let renewals = 0;
    const page = await open(organization, {
      prepare: async (context) => {
        context.on("request", (request) => {
          if (request.url().endsWith("/console/session")) renewals += 1;
        });
        await context.route("**/organizations", (route) => {
          refusals += 1;
          return refusals === 1 ? route.fulfill(refusal(401, "unauthorized")) : route.continue();
        });
      },
    });
    await page.getByRole("heading", { name: "Projects" }).waitFor();
    await page.getByLabel("Organization: Local").waitFor();
    expect([refusals, renewals]).toEqual([2, 2]);
    await page.context().close();
  });

  test.each([
    [
      "429",
      refusal(429, "too_many_requests", {}, { "retry-after": "60" }),
      "Too many requests. Try again in 60 seconds.",
    ],
    ["503", refusal(503, "unavailable", {}, { "retry-after": "40" }), "The service is busy for a moment."],
    ["500", refusal(500, "internal"), "Something went wrong in the service."],
  ])("after a %s the change can be made again, once", async (status, answer, sentence) => {
    const { open, organization } = get();
    const page = await open(organization);
    let isFirst = true;
    await page.route("**/projects", (route: Route) => {
      if (route.request().method() !== "POST" || !isFirst) return route.continue();
      isFirst = false;
      return route.fulfill(answer);
    });
    await fillNewProject(page, `After ${status}`);
    await create(page);
    await alert(page)
      .getByText(sentence.split(". ")[0] ?? "", { exact: false })
      .waitFor();
    expect(await alert(page).textContent()).toContain(sentence);
    await expectAccessible(page);
    await alert(page).getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { name: `After ${status}` }).waitFor();
    expect((await names()).filter((name: string) => name === `After ${status}`)).toHaveLength(1);
    await page.context().close();
  });

  test("without a network nothing is lost, and an answer that got lost does not make a second project", async () => {
    const { open, organization } = get();
    const page = await open(organization);
    await fillNewProject(page, "Offline");
    await page.context().setOffline(true);
    await create(page);
    await alert(page).getByText("Your computer has no network connection.").waitFor();
    expect(await page.getByLabel("Name").inputValue()).toBe("Offline");
    await page.context().setOffline(false);
    let lost = 0;
    await page.route("**/projects", async (route: Route) => {
      if (route.request().method() !== "POST" || lost > 0) return route.continue();
      lost += 1;
      await route.fetch();
      return route.abort();
    });
    await alert(page).getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { name: "Offline" }).waitFor();
    expect([lost, (await names()).filter((name: string) => name === "Offline").length]).toEqual([1, 1]);
    await page.context().close();
  });

  test("a refusal names the managers or the role, and a wrong field says what is wrong with it", async () => {
    const { open, organization } = get();
    const page = await open(organization);
    const answers = [
      refusal(403, "not_a_manager", { managers: [{ id: "usr_1", name: "Grace <b>", email: "grace@example.com" }] }),
      refusal(403, "forbidden", { requiredRole: "admin" }),
      refusal(400, "invalid_request", { issues: [{ path: "name", message: "must have at most 128 characters" }] }),
    ];
    await page.route("**/projects", (route: Route) => {
      const answer = route.request().method() === "POST" ? answers.shift() : undefined;
      return answer ? route.fulfill(answer) : route.continue();
    });
    await fillNewProject(page, "Refused");
    await create(page);
    await alert(page).getByText("Grace <b>").waitFor();
    expect(await alert(page).textContent()).toMatch(
      /Only the managers of this project can do this.*grace@example\.com/,
    );
    expect(await alert(page).getByRole("button").count()).toBe(0);
    await create(page);
    await alert(page).getByText("it needs the role admin", { exact: false }).waitFor();
    await create(page);
    await page.getByText("It must have at most 128 characters.").waitFor();
    expect(await page.getByLabel("Name").getAttribute("aria-invalid")).toBe("true");
    await page.context().close();
  });

  test("markup and right-to-left marks in names, titles, errors and logs are shown as text", async () => {
    const { open, organization, project, running } = get();
    const hostile = '<img src=x onerror="document.title=1">\u202Eevil\u0007';
    const shown = '<img src=x onerror="document.title=1">';
    await running.call("PUT", running.project, { body: { name: hostile.replace("\u0007", "") } });
    const made = await running.call("POST", `${running.project}/builds`, { body: { title: hostile } });
    const id = made.body.build.id;
    const line = { at: "2026-11-20T10:00:00.000Z", stage: "building", text: `\u001b[31m${hostile}` };
    const page = await open(`${project}/builds/${id}`, {
      prepare: async (context) => {
        await context.route(`**/organizations/**/builds/${id}/logs?*`, (route) =>
          route.fulfill({ json: { lines: [line], nextCursor: null } }),
        );
        await context.route(`**/organizations/**/builds/${id}`, async (route) => {
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
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toContain(shown);
    expect(await page.locator("main img, main script").count()).toBe(0);
    expect(await page.title()).toContain(shown);
    await expectAccessible(page);
    await page.goto(page.url().replace(/\/projects\/.*/, ""));
    await page.getByRole("link", { name: shown, exact: false }).first().waitFor();
    expect(await page.locator("main img").count()).toBe(0);
    await expectAccessible(page);
    expect(page.url()).toContain(organization);
    await running.call("POST", `${running.project}/builds/${id}/cancel`);
    await page.context().close();
  });

  test("the keyboard reaches everything, and a dialog gives the focus back", async () => {
    const { open, organization } = get();
    const page = await open(organization);
    await page.getByRole("heading", { name: "Projects" }).waitFor();
    const focused = () => page.evaluate("document.activeElement.textContent.trim()");
    await page.keyboard.press("Tab");
    expect(await focused()).toBe("Skip to the content");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    expect(await focused()).toBe("Local");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "All projects" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "All projects" }).waitFor({ state: "hidden" });
    expect(await focused()).toBe("Local");
    await page.getByRole("button", { name: "New project" }).focus();
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement.tagName")).toBe("INPUT");
    await page.keyboard.press("Escape");
    await expect.poll(focused).toBe("New project");
    await page.getByRole("link", { name: "Organization" }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => page.evaluate("document.activeElement.tagName")).toBe("H1");
    await page.goBack();
    await page.getByRole("heading", { name: "Projects" }).waitFor();
    await page.goto(`${page.url()}/no/such/page`);
    await page.getByRole("heading", { name: "There is no such page" }).waitFor();
    await expectAccessible(page);
    await page.context().close();
  });

  test("a passkey is added, signs in, and is deleted by its name; signing out everywhere ends the session", async () => {
    const { open } = get();
    const page = await open("/console/account");
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
    await page.getByRole("button", { name: "Add a passkey" }).click();
    await page.getByLabel("Name").fill("Laptop");
    await page.getByRole("button", { name: "Add passkey", exact: true }).click();
    await page.getByRole("table", { name: "Passkeys" }).getByText("Laptop").waitFor();
    await expectAccessible(page);

    await page.getByRole("button", { name: "Sign out", exact: true }).click();
    await page.getByRole("button", { name: "Sign in with a passkey" }).click();
    await page.getByRole("table", { name: "Passkeys" }).getByText("Laptop").waitFor();

    await page.getByRole("button", { name: "Delete Laptop" }).click();
    const remove = page.getByRole("button", { name: "Delete passkey" });
    expect(await remove.isDisabled()).toBe(true);
    await page.getByLabel("Name").fill("Laptop");
    await expectAccessible(page);
    await remove.click();
    await page.getByText("No passkey yet").waitFor();

    await page.getByRole("button", { name: "Sign out everywhere" }).click();
    await page.getByRole("heading", { name: "Sign in to Slipway" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Sign in to Slipway" }).waitFor();
    await page.context().close();
  });
});
