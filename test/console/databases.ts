import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { chromiumFile, despiteFault, expectAccessible, expectFitsPhone, partsOf, useConsole } from "./harness.ts";

const hostile = "<img src=x onerror=alert(1)>\u202e";

describe.skipIf(!chromiumFile)("databases, tables and rows", () => {
  const get = useConsole();
  let page: Page;
  beforeAll(async () => {
    if (chromiumFile) page = await get().visit(`${get().organization}/databases`, { sameDocument: true });
  });
  const { button, row, dialog, dialogButton, dialogField, field } = partsOf(() => page);
  const call = (method: string, path: string, body?: unknown) => {
    const { organizationId, databaseId } = get().running.seed;
    const tables = `/organizations/${organizationId}/databases/${databaseId}/tables`;
    return get().running.call(method, tables + path, body === undefined ? {} : { body });
  };

  test("a database is created, renamed and deleted by typing its name", async () => {
    await row("First database").waitFor();
    await expectAccessible(page);
    await button("Create database").click();
    await dialogField("Name").fill(hostile);
    await despiteFault(page, () => dialogButton("Create database").click());
    await row(hostile).waitFor();
    await button(`Rename ${hostile}`).click();
    await dialogField("Name").fill("Drafts");
    await despiteFault(page, () => dialogButton("Rename").click());
    await row("Drafts").waitFor();
    await button("Delete Drafts").click();
    await dialogField("Name").fill("Drafts");
    await despiteFault(page, () => dialogButton("Delete database").click());
    await row("Drafts").waitFor({ state: "detached" });
  });

  test("a table is created with its columns", async () => {
    await page.getByRole("link", { name: "First database" }).click();
    // The first use of a database starts PostgreSQL.
    await page.getByRole("heading", { name: "No tables yet" }).waitFor({ timeout: 50_000 });
    await expectAccessible(page);
    await button("Create table").click();
    await dialogField("Name of the table").fill("people");
    await dialogField("Comment of the table").fill(hostile);
    await dialogField("Column").fill("1st");
    await dialogButton("Create table").click();
    await dialog().getByText("must contain only letters", { exact: false }).first().waitFor();
    await dialogField("Column").fill("name");
    await dialogField("Required").check();
    await dialogButton("Add column").click();
    await dialogField("Column").nth(1).fill("details");
    await dialogField("Type").nth(1).selectOption("json");
    await expectAccessible(page);
    await despiteFault(page, () => dialogButton("Create table").click());
    await page.getByRole("heading", { name: "people" }).waitFor();
    expect((await call("GET", "")).body.tables[0]).toMatchObject({
      name: "people",
      comment: hostile,
      columns: [{ name: "id" }, { name: "name", nullable: false }, { name: "details", type: "json" }, {}, {}],
    });
  });

  test("rows are added, edited where they stand, and deleted", async () => {
    await page.getByRole("heading", { name: "No rows yet" }).waitFor();
    await button("Add row").click();
    await dialogField("name").fill(hostile);
    await dialogField("details is null").uncheck();
    await dialogField("details").fill('{"n": 12345678901234567890}');
    await dialogButton("Add row").click();
    await dialog().getByText("would be rounded", { exact: false }).waitFor();
    await dialogField("details").fill('{"n": 1}');
    await expectAccessible(page);
    await despiteFault(page, () => dialogButton("Add row").click());
    await row(hostile).getByText('{"n":1}').waitFor();
    await expectFitsPhone(page);
    await expectAccessible(page);

    await page.getByRole("button", { name: "Change name of row 1", exact: false }).click();
    await expect.poll(() => page.evaluate("document.activeElement.value")).toBe(hostile);
    await page.keyboard.press("Control+A");
    await page.keyboard.type("Ada");
    await expectAccessible(page);
    await despiteFault(page, () => page.keyboard.press("Enter"));
    await row("Ada").waitFor();
    await page.getByRole("button", { name: "Change details of row 1", exact: false }).click();
    await field("details").fill("{");
    await button("Save").click();
    await page.getByText("It must be JSON", { exact: false }).waitFor();
    await page.keyboard.press("Escape");
    expect((await call("GET", "/people/rows")).body.rows).toEqual([
      expect.objectContaining({ id: 1, name: "Ada", details: { n: 1 } }),
    ]);
    await button("Delete row 1").click();
    await dialogField("Name").fill("1");
    await despiteFault(page, () => dialogButton("Delete row").click());
    await page.getByRole("heading", { name: "No rows yet" }).waitFor();
  });

  test("rows have pages", async () => {
    for (let count = 0; count < 51; count += 1) await call("POST", "/people/rows", { row: { name: `row ${count}` } });
    // The list is read again when the person comes back to the tab.
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await row("row 0").waitFor();
    await button("Next page").click();
    await page.getByText("row 50", { exact: true }).waitFor();
    await expect.poll(() => button("Next page").isDisabled()).toBe(true);
    await button("Previous page").click();
    await page.getByText("row 0", { exact: true }).waitFor();
    await expectFitsPhone(page);
  });

  test("a change of columns shows the dry run's plan, and asks for the name before data is deleted", async () => {
    await page.getByRole("link", { name: "Columns" }).click();
    await expect.poll(() => button("Review the change").isDisabled()).toBe(true);
    await field("Column").first().fill("full_name");
    await field("Unique").first().check();
    await despiteFault(page, () => button("Review the change").click());
    await dialog().getByText("Rename column name to full_name").waitFor();
    await dialog().getByText("Require the values of column full_name to be unique").waitFor();
    await expectAccessible(page);
    expect((await call("GET", "")).body.tables[0].columns[1].name).toBe("name");
    await despiteFault(page, () => dialogButton("Apply").click());
    await dialog().waitFor({ state: "detached" });
    expect((await call("GET", "")).body.tables[0].columns[1]).toMatchObject({ name: "full_name", unique: true });

    await button("Remove details").click();
    await button("Review the change").click();
    await dialog().getByText("Drop column details and every value in it").waitFor();
    await expect.poll(() => dialogButton("Apply").isDisabled()).toBe(true);
    await dialogField("Name of the table").fill("people");
    await dialogButton("Apply").click();
    await dialog().waitFor({ state: "detached" });
    await expectAccessible(page);
    expect((await call("GET", "")).body.tables[0].columns).toHaveLength(4);
  });

  test("data in the way of a change is named, and nothing is changed", async () => {
    await field("Type").first().selectOption("integer");
    await button("Review the change").click();
    await page.getByRole("alert").getByText("nothing was changed", { exact: false }).waitFor();
    await expectFitsPhone(page);
    await button("Delete table…").click();
    await dialogField("Name").fill("people");
    await despiteFault(page, () => dialogButton("Delete table").click());
    await page.getByRole("heading", { name: "No tables yet" }).waitFor();
  });
});
