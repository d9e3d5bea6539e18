import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import {
  chromiumFile,
  despiteFault,
  dropOn,
  expectAccessible,
  expectFitsPhone,
  partsOf,
  useConsole,
} from "./harness.ts";

const hostile = "<img src=x onerror=alert(1)>\u202egpj.txt";
const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

describe.skipIf(!chromiumFile)("storages and files", () => {
  const get = useConsole();
  let page: Page;
  beforeAll(async () => {
    if (chromiumFile) page = await get().visit(`${get().organization}/storages`);
  });
  const { button, row, dialog, dialogButton, dialogField, field } = partsOf(() => page);
  const upload = (...files: { name: string; mimeType: string; buffer: Buffer }[]) =>
    field("Choose files to upload").setInputFiles(files);

  test("a storage is created, renamed, and deleted only if it is empty", async () => {
    await row("First storage").waitFor();
    await expectAccessible(page);
    await button("Create storage").click();
    await dialogField("Name").fill("x".repeat(129));
    await dialogButton("Create storage").click();
    await dialog().getByText("must have at most 128 characters", { exact: false }).first().waitFor();
    await dialogField("Name").fill(hostile);
    await despiteFault(page, () => dialogButton("Create storage").click());
    await row(hostile).waitFor();
    await button(`Rename ${hostile}`).click();
    await dialogField("Name").fill("Drafts");
    await despiteFault(page, () => dialogButton("Rename").click());
    await row("Drafts").waitFor();
    await button("Delete Drafts").click();
    await dialogField("Name").fill("Drafts");
    await despiteFault(page, () => dialogButton("Delete storage").click());
    await row("Drafts").waitFor({ state: "detached" });
  });

  test("files are uploaded, shown as image and text, downloaded and deleted", async () => {
    await page.getByRole("link", { name: "First storage" }).click();
    await page.getByRole("heading", { name: "No files yet" }).waitFor();
    await expectAccessible(page);
    await upload(
      { name: "pixel.png", mimeType: "image/png", buffer: pixel },
      { name: hostile, mimeType: "text/plain", buffer: Buffer.from("<script>alert(1)</script> ✓") },
    );
    const folder = mkdtempSync(join(tmpdir(), "slipway-drop-"));
    const file = join(folder, "data.bin");
    writeFileSync(file, Buffer.alloc(3000));
    await dropOn(page.getByText("Drop files here"), [file]);
    await row("pixel.png").waitFor();
    await row("data.bin").getByText("2.9 KiB").waitFor();
    rmSync(folder, { recursive: true });
    await row(hostile).getByText("29 B").waitFor();
    await expect.poll(() => page.getByText("Uploaded", { exact: true }).count()).toBe(3);
    await expectAccessible(page);

    await button("Show pixel.png").click();
    await expect
      .poll(() =>
        dialog()
          .locator("img")
          .evaluate((image: { naturalWidth?: number }) => image.naturalWidth),
      )
      .toBe(1);
    await expectAccessible(page);
    await page.keyboard.press("Escape");
    await button(`Show ${hostile}`).click();
    await dialog().getByText("<script>alert(1)</script> ✓").waitFor();
    await expectAccessible(page);
    await page.keyboard.press("Escape");
    await expect.poll(() => button("Show data.bin").count()).toBe(0);

    const [download] = await Promise.all([page.waitForEvent("download"), button("Download data.bin").click()]);
    expect(Buffer.concat(await (await download.createReadStream()).toArray())).toEqual(Buffer.alloc(3000));

    await button(`Delete ${hostile}`).click();
    await dialogField("Name").fill(hostile);
    await despiteFault(page, () => dialogButton("Delete file").click());
    await dialog().waitFor({ state: "detached" });
    await expect.poll(() => page.evaluate("document.activeElement.tagName")).toBe("H1");
    await expectFitsPhone(page);
    const { organizationId, storageId } = get().running.seed;
    const { body } = await get().running.call("GET", `/organizations/${organizationId}/storages/${storageId}/files`);
    expect(body.files.map(({ name }: { name: string }) => name).sort()).toEqual(["data.bin", "pixel.png"]);
  });

  test("an upload that the network interrupts says so, and is sent again", async () => {
    const isUpload = (url: URL) => url.search.includes("X-Amz-Signature");
    await page.route(isUpload, (route) => (route.request().method() === "PUT" ? route.abort() : route.continue()));
    await upload({ name: "again.txt", mimeType: "text/plain", buffer: Buffer.from("again") });
    await page.getByRole("alert").getByText("The service could not be reached.", { exact: false }).waitFor();
    await row("again.txt").getByText("Not uploaded").waitFor();
    await page.unroute(isUpload);
    await button("Try again.txt again").click();
    await row("again.txt").getByText("5 B").waitFor();
    const names = await page.getByRole("table", { name: "Files" }).getByRole("row").allTextContents();
    expect(names.filter((text) => text.includes("again.txt"))).toHaveLength(1);
  });

  test("an upload that is canceled leaves nothing behind", async () => {
    const isUpload = (url: URL) => url.search.includes("X-Amz-Signature");
    await page.route(isUpload, () => undefined);
    await upload({ name: "gone.txt", mimeType: "text/plain", buffer: Buffer.from("gone") });
    await page.getByText("0 B of 4 B").waitFor();
    await button("Cancel gone.txt").click();
    await expect.poll(() => page.getByText("gone.txt").count()).toBe(0);
    const { organizationId, storageId } = get().running.seed;
    const files = async () =>
      (await get().running.call("GET", `/organizations/${organizationId}/storages/${storageId}/files`)).body.files;
    await expect
      .poll(async () => (await files()).some(({ name }: { name: string }) => name === "gone.txt"))
      .toBe(false);
    await page.unroute(isUpload);
  });
});
