import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { chromiumFile, despiteFault, expectAccessible, expectFitsPhone, partsOf, useConsole } from "./harness.ts";

/** Markup and a right-to-left override, which must be shown as text. */
const hostile = '<img src=x onerror="alert(1)">\u202etxt.exe';

describe.skipIf(!chromiumFile)("the pages of a project", () => {
  const get = useConsole();
  let page: Page;
  beforeAll(async () => {
    if (chromiumFile) page = await get().visit(`${get().project}/variables`);
  });
  const show = (tab: string) => page.getByRole("link", { name: tab, exact: true }).click();
  const { button, row, dialog, dialogButton, dialogField, field } = partsOf(() => page);
  const call = (method: string, path: string, body?: unknown) =>
    get().running.call(method, get().running.project + path, body === undefined ? {} : { body });
  const variables = async () => {
    const { environments } = (await call("GET", "/environments")).body;
    return Object.fromEntries(environments.map(({ name, value }: Record<string, string>) => [name, value]));
  };

  test("variables are added, shown, changed and deleted, and an error stands where it was made", async () => {
    await page.getByRole("heading", { name: "No variables yet" }).waitFor();
    await expectAccessible(page);
    await button("Add variable").click();
    await dialogField("Name").fill("1_BAD");
    await dialogField("Value").fill(hostile);
    await dialogButton("Add variable").click();
    await dialog().getByText("must contain only letters, digits and underscores", { exact: false }).first().waitFor();
    await dialogField("Name").fill("GREETING");
    await expectAccessible(page);
    await despiteFault(page, () => dialogButton("Add variable").click());
    await row("GREETING").waitFor();
    await expect.poll(() => row("GREETING").textContent()).not.toContain("onerror");
    await button("Show GREETING").click();
    await expect.poll(() => row("GREETING").textContent()).toContain(hostile);
    await expectAccessible(page);

    await button("Change GREETING").click();
    await dialogField("Value").fill("two\nlines");
    await despiteFault(page, () => dialogButton("Save").click());
    await dialog().waitFor({ state: "detached" });
    expect(await variables()).toEqual({ GREETING: "two\nlines" });

    await button("Delete GREETING").click();
    await expect.poll(() => dialogButton("Delete variable").isDisabled()).toBe(true);
    await dialogField("Name").fill("GREETING");
    await despiteFault(page, () => dialogButton("Delete variable").click());
    await page.getByRole("heading", { name: "No variables yet" }).waitFor();
    expect(await variables()).toEqual({});
  });

  test("a pasted .env file shows what it does before it is stored", async () => {
    await call("POST", "/environments", { name: "KEPT", value: "1" });
    await call("POST", "/environments", { name: "CHANGED", value: "old" });
    await show("Keys");
    await show("Variables");
    await row("KEPT").waitFor();
    await button("Paste a .env file").click();
    await dialogField("Content of the file").fill('KEPT=1\nCHANGED="new # value"\nnonsense\nexport ADDED=2\n');
    await expect
      .poll(() => dialog().getByRole("row").allTextContents())
      .toEqual([
        "LineNameValueEffect",
        "1KEPT1 characterStays the same",
        "2CHANGED11 charactersChanges",
        "4ADDED1 characterNew",
      ]);
    await expect.poll(() => dialog().getByText("Line 3 holds no NAME=value").count()).toBe(1);
    await expectAccessible(page);
    await despiteFault(page, () => dialogButton("Store 2 variables").click());
    await dialog().waitFor({ state: "detached" });
    await row("ADDED").waitFor();
    expect(await variables()).toEqual({ KEPT: "1", CHANGED: "new # value", ADDED: "2" });
  });

  test("a key's secret is shown once, a fourth key is not offered, and a key is deleted by its name", async () => {
    await show("Keys");
    await page.getByRole("heading", { name: "No keys yet" }).waitFor();
    await expectAccessible(page);
    for (const name of ["ci", hostile, ""]) {
      await button("Create key").click();
      await dialogField("Description").fill(name);
      if (name === "ci") await despiteFault(page, () => dialogButton("Create key").click());
      else await dialogButton("Create key").click();
      await dialog().getByText("it is shown only once", { exact: false }).waitFor();
      if (name === "ci") {
        await expectAccessible(page);
        const [, bearer = ""] = await dialog().locator("pre").allTextContents();
        expect((await get().running.call("GET", "/ping", { bearer })).status).toBe(200);
      }
      await dialogButton("I have copied it").click();
    }
    await page.getByText("The project has 3 keys.", { exact: false }).waitFor();
    await expect.poll(() => button("Create key").isDisabled()).toBe(true);
    await expect.poll(() => page.locator("main").textContent()).toContain(hostile);
    await expect.poll(() => page.locator("main").innerHTML()).not.toContain("<img");
    await row("ci").getByText("just now").or(row("ci").getByText("ago")).first().waitFor();
    await button("Delete ci").click();
    await dialogField("Name").fill("ci");
    await despiteFault(page, () => dialogButton("Delete key").click());
    await dialog().waitFor({ state: "detached" });
    expect((await call("GET", "/credentials")).body.credentials).toHaveLength(2);
  });

  test("domains are added and removed, and a taken one says so", async () => {
    await show("Domains");
    await page.getByRole("heading", { name: "No domains yet" }).waitFor();
    await page.getByRole("textbox", { name: "Domain" }).fill("not a host");
    await button("Add domain").click();
    await page.getByText("must be a host name such as", { exact: false }).first().waitFor();
    await expectAccessible(page);
    await page.getByRole("textbox", { name: "Domain" }).fill("WWW.Example.com");
    await despiteFault(page, () => button("Add domain").click());
    await row("www.example.com").getByText("Pending").waitFor();
    await page.getByRole("textbox", { name: "Domain" }).fill("www.example.com");
    await button("Add domain").click();
    await page.getByRole("alert").waitFor();
    await expectFitsPhone(page);
    await expectAccessible(page);
    await button("Remove www.example.com").click();
    await dialogField("Name").fill("www.example.com");
    await despiteFault(page, () => dialogButton("Remove domain").click());
    await page.getByRole("heading", { name: "No domains yet" }).waitFor();
  });

  test("settings are changed, one field at a time, beside what detection says", async () => {
    await show("Settings");
    await field("Start command").fill("node server.js");
    await field("Instances").fill("11");
    await button("Save settings").click();
    await page.getByText("must be an integer from 1 to 10", { exact: false }).first().waitFor();
    await expectAccessible(page);
    await field("Instances").fill("2");
    await field("Build nothing").check();
    await field("Memory in MiB").selectOption("1024");
    await despiteFault(page, () => button("Save settings").click());
    await page.getByText("They show with the next build", { exact: false }).waitFor();
    expect((await call("GET", "")).body.project.settings).toMatchObject({
      startCommand: "node server.js",
      buildCommand: "",
      installCommand: null,
      memory: 1024,
      instances: 2,
    });
    await button("Rebuild").click();
    await page
      .getByRole("alert")
      .getByText("never been deployed", { exact: false })
      .or(page.getByRole("alert"))
      .first()
      .waitFor();
    await field("Start command").fill("");
    await field("Instances").fill("");
    await button("Save settings").click();
    await expect.poll(async () => (await call("GET", "")).body.project.settings.startCommand).toBe(null);
    expect((await call("GET", "")).body.project.settings).toMatchObject({ instances: null, memory: 1024 });
  });

  test("the project is renamed, restricted to managers, and deleted by typing its name", async () => {
    await field("Name of the project").fill(hostile);
    await despiteFault(page, () => button("Rename").click());
    await page.getByRole("banner").getByText(hostile).waitFor();
    await field("Only the chosen members").check();
    await page.getByRole("checkbox", { name: "Local user" }).check();
    await expectAccessible(page);
    await despiteFault(page, () => button("Save").click());
    const managers = async () => (await call("GET", "")).body.project.managers;
    await expect.poll(managers).toEqual([expect.objectContaining({ id: get().userId })]);
    await expectFitsPhone(page);

    await button("Delete project…").click();
    await expectAccessible(page);
    await dialogField("Name").fill("another name");
    await expect.poll(() => dialogButton("Delete project").isDisabled()).toBe(true);
    await dialogField("Name").fill(hostile);
    await despiteFault(page, () => dialogButton("Delete project").click());
    await page.getByRole("heading", { name: "Projects", exact: true }).waitFor();
    expect((await call("GET", "")).status).toBe(404);
  });
});
