import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import {
  chromiumFile,
  despiteFault,
  expectAccessible,
  expectFitsPhone,
  goWithin,
  partsOf,
  useConsole,
} from "./harness.ts";

const hostile = '<b onclick="x">Bob</b>\u202e';

describe.skipIf(!chromiumFile)("the organization's pages", () => {
  const get = useConsole();
  let page: Page;
  let token: string;
  beforeAll(async () => {
    if (!chromiumFile) return;
    page = await get().visit(`${get().organization}/members`, { sameDocument: true });
    token = get().running.seed.token;
  });
  const { button, row, dialog, dialogButton, dialogField, field } = partsOf(() => page);
  const call = (method: string, path: string, body?: unknown) =>
    get().running.call(method, path, { bearer: token, ...(body !== undefined && { body }) });
  const members = async () =>
    (await call("GET", `/organizations/${get().running.seed.organizationId}/members`)).body.members;

  test("a member is invited with a link that is shown once, gets another role, and is removed", async () => {
    await row("Local user").waitFor();
    await expectAccessible(page);
    await button("Invite").click();
    await dialogField("Email").fill("bob@example.com");
    await dialogField("Name").fill(hostile);
    await despiteFault(page, () => dialogButton("Invite").click());
    const link = await dialog().locator("pre").textContent();
    expect(link).toContain(`/console/sign-in#code=`);
    await expectAccessible(page);
    await dialogButton("Done").click();
    await row("bob@example.com").getByText(hostile).waitFor();
    await despiteFault(page, () => row("bob@example.com").getByRole("combobox").selectOption("admin"));
    await expect.poll(members).toContainEqual(expect.objectContaining({ email: "bob@example.com", role: "admin" }));

    await button("Invite").click();
    await dialogField("Email").fill("bob@example.com");
    await dialogButton("Invite").click();
    await dialog().getByRole("alert").waitFor();
    await page.keyboard.press("Escape");
    await button(`Remove ${hostile}`).click();
    await dialogField("Name").fill("bob@example.com");
    await despiteFault(page, () => dialogButton("Remove member").click());
    await row("bob@example.com").waitFor({ state: "detached" });
    expect(await members()).toHaveLength(1);
  });

  test("the last owner cannot step down, and the reason stands beside the role", async () => {
    await row("Local user").getByRole("combobox").selectOption("member");
    await row("Local user").getByRole("alert").waitFor();
    await expect.poll(() => row("Local user").getByRole("combobox").inputValue()).toBe("owner");
  });

  test("the organization is renamed", async () => {
    await field("Name of the organization").fill(hostile);
    await despiteFault(page, () => button("Rename").click());
    await page.getByRole("banner").getByText(hostile).first().waitFor();
  });

  test("a token's value is shown once, works within its access, and is deleted by its name", async () => {
    await page.getByRole("link", { name: "Tokens" }).click();
    await button("Create token").click();
    await dialogField("Description").fill("my editor");
    await dialog().getByRole("radio", { name: /^Read/ }).check();
    await dialogField("Only these:").check();
    await expect.poll(() => dialogButton("Create token").isDisabled()).toBe(true);
    await dialog().getByRole("checkbox").check();
    await expectAccessible(page);
    await despiteFault(page, () => dialogButton("Create token").click());
    const value = (await dialog().locator("pre").first().textContent()) ?? "";
    const { organizationId } = get().running.seed;
    const path = `/organizations/${organizationId}/projects`;
    expect((await get().running.call("GET", path, { bearer: value })).status).toBe(200);
    expect((await get().running.call("POST", path, { bearer: value, body: { name: "x" } })).status).toBe(403);
    await dialogButton("I have copied it").click();
    await page.getByText("Claude Code").click();
    await page.getByText("claude mcp add", { exact: false }).waitFor();
    await expectAccessible(page);
    await button("Delete my editor").click();
    await dialogField("Name").fill("my editor");
    await despiteFault(page, () => dialogButton("Delete token").click());
    await row("my editor").waitFor({ state: "detached" });
    expect((await get().running.call("GET", path, { bearer: value })).status).toBe(401);
  });

  test("the audit trail says who changed what, page by page", async () => {
    for (let count = 0; count < 55; count += 1) {
      await call("PUT", `/organizations/${get().running.seed.organizationId}`, { name: `Name ${count}` });
    }
    await page.getByRole("link", { name: "Audit trail" }).click();
    await row("Update organization").first().getByText("Local user, with a token").waitFor();
    const before = await page.getByRole("row").count();
    await button("Show more changes").click();
    await expect.poll(() => page.getByRole("row").count()).toBeGreaterThan(before);
    await row("Create member").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
  });

  const verifier = randomBytes(32).toString("base64url");
  const challenge = createHash("sha256").update(verifier).digest("base64url");
  const connect = (more: Record<string, string>) =>
    `/console/connect?${new URLSearchParams({ tool: "Test tool", challenge, access: "deploy", ...more })}`;
  /** Another page is between the two, because this one reads its address once. */
  const connectAgain = async (address: string) => {
    await goWithin(page, "/console/no/such/page");
    await page.getByRole("heading", { name: "There is no such page" }).waitFor();
    await goWithin(page, address);
  };
  const exchange = async (code: string) =>
    get().running.call("POST", "/console/connect/token", { bearer: null, body: { code, verifier } });

  test("a tool without a browser gets a code to type in, for the access that was agreed to", async () => {
    await goWithin(page, connect({ redirect: "https://evil.example.com/" }));
    await page.getByText("Test tool", { exact: true }).waitFor();
    await page.getByRole("radio", { name: /^All/ }).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await expect.poll(() => page.getByRole("radio", { name: /^Everything/ }).count()).toBe(0);
    await page.getByRole("radio", { name: /^Read/ }).check();
    await despiteFault(page, () => button("Agree").click());
    const code = String(await page.locator("pre").textContent());
    await expectAccessible(page);
    await expectFitsPhone(page);
    expect((await exchange(code)).body.token).toMatchObject({ access: "read", description: "Test tool" });
    await connectAgain("/console/connect?tool=x");
    await page.getByText("This address is not complete.", { exact: false }).waitFor();
  });

  test("a tool on this computer gets the code or the refusal at its own address", async () => {
    const seen: string[] = [];
    const server = createServer((request, response) => {
      seen.push(request.url ?? "");
      response.end("You can close this tab.");
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const redirect = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    await connectAgain(connect({ redirect, state: "s-1" }));
    await button("Agree").click();
    await page.getByText("You can close this tab.").waitFor();
    const query = new URL(seen[0] ?? "", redirect).searchParams;
    expect(query.get("state")).toBe("s-1");
    expect((await exchange(query.get("code") ?? "")).body.token).toMatchObject({
      access: "deploy",
      organizationIds: null,
    });
    seen.length = 0;
    await page.goto(get().origin + connect({ redirect, state: "s-2" }));
    await button("Refuse").click();
    await expect.poll(() => seen[0]).toBe("/?error=access_denied&state=s-2");
    server.close();
    server.closeAllConnections();
  });
});
