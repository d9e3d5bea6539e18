import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { FileChooser, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { answerWithBuilds, listedBuild } from "../../scripts/bench/many-builds.ts";
import { zipOf } from "../harness/app.ts";
import {
  chromiumFile,
  despiteFault,
  dropOn,
  expectAccessible,
  expectFitsPhone,
  expectGoodEverywhere,
  goWithin,
  onPhone,
  partsOf,
  useConsole,
} from "./harness.ts";

const examples = join(import.meta.dirname, "../../examples");

describe.skipIf(!chromiumFile)("builds in the console", () => {
  const get = useConsole();
  let page: Page;
  const { button, dialogButton, dialogField } = partsOf(() => page);
  const tab = (name: string) => page.getByRole("navigation").getByRole("link", { name, exact: true }).click();

  const zone = () => page.getByRole("region", { name: "Deploy from this browser" });
  const isUpload = (url: URL) => url.searchParams.has("X-Amz-Signature");
  /** Presses a button that opens a file dialog, and chooses there. */
  async function choose(name: string, files: Parameters<FileChooser["setFiles"]>[0]): Promise<void> {
    const opened = page.waitForEvent("filechooser");
    await button(name).click();
    await (await opened).setFiles(files);
  }
  const waitForBuild = (title: string) =>
    page.getByRole("heading", { name: title, level: 1 }).waitFor({ timeout: 45_000 });
  const waitUntilLive = () =>
    page
      .getByRole("region", { name: "Build", exact: true })
      .getByText("Live", { exact: true })
      .waitFor({ timeout: 45_000 });

  test("a dropped folder is deployed, also after a stop and a fault, a broken zip says why, and what served can be rebuilt and redeployed", async () => {
    const { visit, organization, running } = get();
    page = await visit(organization, { sameDocument: true });
    await button("New project").click();
    await expectAccessible(page);
    await dialogField("Name").fill("Shop");
    await dialogButton("Create project").click();
    await page.getByText("Drop a folder or a zip here").waitFor();
    await expectAccessible(page);

    await despiteFault(page, () => button("Make a key and fill it in").click());
    const snippet = page.locator(".snippet pre");
    const keyIn = async () => {
      const commands = (await snippet.textContent()) ?? "";
      const [, access] = /SLIPWAY_ACCESS_KEY='([^']+)'/.exec(commands) ?? [];
      const [, secret] = /SLIPWAY_SECRET_KEY='([^']+)'/.exec(commands) ?? [];
      return `${access}:${secret}`;
    };
    expect((await running.call("GET", "/ping", { bearer: await keyIn() })).body).toBe("pong");

    await choose("Choose a folder", join(examples, "node-hello"));
    await zone().getByText("node-hello: 4 files").waitFor();
    await button("Choose something else").click();
    await dropOn(zone(), [join(examples, "node-hello")]);
    await zone().getByText("node-hello: 4 files").waitFor();
    await page.getByLabel("Title of the build (optional)").fill("First version, with a title too long for a phone");
    // An upload that does not end is stopped; nothing that was chosen is lost.
    await page.route(isUpload, () => undefined);
    await button("Deploy").click();
    await zone()
      .getByText(/^Sending 0 B of/)
      .waitFor();
    await expectAccessible(page);
    await button("Stop").click();
    await page.unroute(isUpload);
    await page.route(isUpload, (route) => route.abort(), { times: 1 });
    await button("Deploy").click();
    await zone().getByRole("alert").getByText("The service could not be reached.").waitFor();
    await zone().getByRole("button", { name: "Try again" }).click();
    await waitForBuild("First version, with a title too long for a phone");
    await waitUntilLive();
    await expect
      .poll(() => page.getByRole("list", { name: "Stages" }).textContent())
      .toMatch(/Upload.*Analyze.*Build.*Deploy.*done/);
    await page.getByRole("link", { name: "Open the app" }).waitFor();
    await page.getByText("Detected: nodejs24.x with npm", { exact: false }).waitFor();
    await page.getByRole("region", { name: "Detected" }).getByText("node server.js").waitFor();
    await expectAccessible(page);

    await tab("Overview");
    const address = await page
      .getByRole("region", { name: "Live build" })
      .getByRole("link", { name: /^http/ })
      .textContent();
    expect((await fetch(String(address))).status).toBe(200);

    const crashes = ["package.json", "server.js"].map((name) => [name, readFileSync(join(examples, "crashes", name))]);
    const buffer = await zipOf(Object.fromEntries(crashes));
    await choose("Choose a zip", { name: "crashes.zip", mimeType: "application/zip", buffer });
    await zone().getByText("crashes.zip, ").waitFor();
    await page.getByLabel("Title of the build (optional)").fill("Broken version");
    await button("Deploy").click();
    await waitForBuild("Broken version");
    const failure = page.getByRole("region", { name: "Why it failed" });
    await failure.getByText("the setting DATABASE_URL is missing").waitFor({ timeout: 45_000 });
    await expect.poll(() => failure.textContent()).toMatch(/Exit code1/);
    await page
      .getByRole("region", { name: "Compared with the live build" })
      .getByText("First version, with a title too long for a phone", { exact: true })
      .waitFor();
    await page.getByText("Only builds that became ready can be deployed again.").waitFor();

    const [, orgId, shopId] = /\/orgs\/([^/]+)\/projects\/([^/]+)/.exec(page.url()) ?? [];
    const shop = `/organizations/${orgId}/projects/${shopId}`;
    const waiting = (await running.call("POST", `${shop}/builds`, { body: { title: "Waits" } })).body.build.id;
    /** A rebuild is refused while another build runs, and the refusal leads to that one. */
    const expectRefusedRebuild = async () => {
      await button("Rebuild").click();
      const alert = page.getByRole("alert").filter({ hasText: "Another build of this project is running." });
      expect(await alert.getByRole("link", { name: "Show that build" }).getAttribute("href")).toContain(waiting);
      return alert;
    };
    await tab("Variables");
    await button("Add variable").click();
    await dialogField("Name").fill("GREETING");
    await dialogField("Value").fill("hello");
    await dialogButton("Add variable").click();
    await page.getByText("Not live yet").waitFor();
    await page.getByText("Variables changed since the live build was created.", { exact: false }).waitFor();
    await expectRefusedRebuild();
    await tab("Settings");
    await page.getByLabel("Time limit in seconds", { exact: true }).fill("45");
    await button("Save settings").click();
    await page.getByText("They show with the next build", { exact: false }).waitFor();
    await (await expectRefusedRebuild()).getByRole("link", { name: "Show that build" }).click();
    await page.getByRole("heading", { name: "Waits", level: 1 }).waitFor();
    await running.call("POST", `${shop}/builds/${waiting}/cancel`);

    await tab("Builds");
    const rows = page.getByRole("list", { name: "Builds, newest first" }).getByRole("listitem");
    await expect
      .poll(() => rows.allTextContents())
      .toEqual([
        expect.stringMatching(/^CanceledWaits/),
        expect.stringMatching(/^FailedBroken version/),
        expect.stringMatching(/^ReadyFirst version, with a title too long for a phoneLive/),
        expect.stringMatching(/^CanceledFirst version, with a title too long for a phone/),
        expect.stringMatching(/^CanceledFirst version, with a title too long for a phone/),
      ]);
    await expectAccessible(page);
    await rows.getByRole("button", { name: "Redeploy Broken version" }).press("Enter");
    await page.getByRole("dialog").getByText("Only builds that became ready can be deployed again.").waitFor();
    await expect.poll(() => dialogButton("Redeploy").count()).toBe(0);
    await page.keyboard.press("Escape");
    await button("Rebuild").click();
    await despiteFault(page, () => dialogButton("Rebuild").click());
    await page.getByRole("heading", { name: "First version, with a title too long for a phone", level: 1 }).waitFor();
    await waitUntilLive();
    await tab("Variables");
    await page.getByText("GREETING", { exact: true }).waitFor();
    await expect.poll(() => page.getByText("Not live yet").count()).toBe(0);
    await expect.poll(() => button("Rebuild").count()).toBe(0);

    await tab("Builds");
    await expect
      .poll(() => rows.allTextContents())
      .toEqual([
        expect.stringMatching(/^ReadyFirst version, with a title too long for a phoneLive/),
        expect.stringMatching(/^CanceledWaits/),
        expect.stringMatching(/^FailedBroken version/),
        expect.stringMatching(/^ReadyFirst version, with a title too long for a phone(?!Live)/),
        expect.stringMatching(/^CanceledFirst version, with a title too long for a phone/),
        expect.stringMatching(/^CanceledFirst version, with a title too long for a phone/),
      ]);
    await rows
      .nth(3)
      .getByRole("button", { name: "Redeploy First version, with a title too long for a phone" })
      .click();
    await despiteFault(page, () => dialogButton("Redeploy").click());
    await waitUntilLive();
    await page.getByRole("link", { name: "Slipway, home" }).click();
    await page.getByRole("listitem").filter({ hasText: "Shop" }).getByText("Live", { exact: true }).waitFor();

    const point = { latencyMsP50: 12, latencyMsP95: 40, memoryMiB: 61.2, cpuPercent: 3, restarts: 1 };
    await page.route("**/metrics", (route) =>
      route.fulfill({
        json: {
          from: listedBuild.createdAt,
          stepSeconds: 60,
          points: [
            { at: listedBuild.createdAt, ...point, requests: 7, errors: 0 },
            { at: "2026-11-20T10:01:00.000Z", ...point, requests: null, errors: null },
            { at: "2026-11-20T10:02:00.000Z", ...point, requests: 1_234, errors: 5 },
          ],
        },
      }),
    );
    await page.getByRole("link", { name: "Shop", exact: true }).click();
    await tab("App");
    await page.getByText("VERSION unset listens", { exact: false }).first().waitFor();
    const requests = page.getByRole("figure").filter({ hasText: "Requests" });
    await expect.poll(() => requests.textContent()).toMatch(/requests 1.2k.*errors 5.*highest 1.2k/);
    // Nothing is drawn where nothing was measured.
    expect((await requests.locator("path.plot-line").first().getAttribute("d"))?.match(/M/g)).toHaveLength(2);
    await page.getByText("3 instances ended", { exact: false }).waitFor();
    await page.getByText("Its settings ask for 1 instance.", { exact: false }).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
  }, 180_000);

  test("on every page, axe finds nothing in light and dark, wide and on a phone, where nothing scrolls sideways", async () => {
    const { visit, organization, running } = get();
    const { organizationId, databaseId, storageId } = running.seed;
    const { body } = await running.call("GET", `/organizations/${organizationId}/projects?limit=100`);
    const shop = body.projects.find(({ name }: { name: string }) => name === "Shop").id;
    const builds = (await running.call("GET", `/organizations/${organizationId}/projects/${shop}/builds`)).body.builds;
    const idOf = (status: string) => builds.find((build: { status: string }) => build.status === status).id;
    const make = async (path: string, json: object) =>
      expect((await running.call("POST", `/organizations/${organizationId}/${path}`, { body: json })).status).toBe(201);
    // What a person may write, and cannot be broken into lines.
    const long = "<b>\u202e".padEnd(90, "longword");
    await make("projects", { name: long });
    await make(`projects/${shop}/environments`, { name: "A_VARIABLE".padEnd(60, "_LONG"), value: long });
    await make(`projects/${shop}/credentials`, { description: long });
    await make(`projects/${shop}/domains`, { domain: `${"a".repeat(60)}.example.com` });
    const columns = ["string", "integer", "boolean", "date", "json"].map((type) => ({ name: `a_${type}`, type }));
    await make(`databases/${databaseId}/tables`, { name: "wide", comment: long, columns });
    await make(`databases/${databaseId}/tables/wide/rows`, { row: { a_string: long } });
    await make(`storages/${storageId}/files`, { files: [{ name: long, mime: "text/plain" }] });

    const project = `${organization}/projects/${shop}`;
    const database = `${organization}/databases/${databaseId}`;
    const challenge = "a".repeat(43);
    /** Each page with a text that it shows when it is complete. */
    const pages = [
      [organization, long],
      [project, "Drop a folder or a zip here"],
      [`${project}/builds`, "Broken version"],
      [`${project}/builds/${idOf("error")}`, "Why it failed"],
      [`${project}/builds/${idOf("ready")}`, "node server.js"],
      [`${project}/app`, "Requests"],
      [`${project}/variables`, "Not live yet"],
      [`${project}/keys`, long],
      [`${project}/domains`, "Pending"],
      [`${project}/settings`, "Delete project…"],
      [`${organization}/databases`, "First database"],
      [database, "wide"],
      [`${database}/tables/wide`, long],
      [`${database}/tables/wide/columns`, "Review the change"],
      [`${organization}/storages`, "First storage"],
      [`${organization}/storages/${storageId}`, long],
      [`${organization}/members`, "local@localhost.localdomain"],
      [`${organization}/members/tokens`, "Connect an AI tool"],
      [`${organization}/members/events`, "Create table"],
      ["/console/account", "This browser"],
      [`/console/connect?tool=A+tool&challenge=${challenge}&access=deploy`, "Agree"],
      ["/console/no/such/page", "Go to your projects"],
    ] as const;
    page = await visit("/console/account", { sameDocument: true });
    await page.getByText("This browser").waitFor();
    for (const [address, text] of pages) {
      await goWithin(page, address);
      await page.getByText(text, { exact: true }).first().waitFor();
      await page.locator(".loading").first().waitFor({ state: "detached" });
      await expectGoodEverywhere(page);
    }
    // The tab of the page is in view, although there are more tabs than a phone is wide.
    await onPhone(page, async () => {
      await goWithin(page, `${project}/settings`);
      const current = page.getByRole("navigation").getByRole("link", { name: "Settings", exact: true });
      const rightEnd = "document.querySelector('nav [aria-current]').getBoundingClientRect().right";
      await current.waitFor();
      await expect.poll(() => page.evaluate(rightEnd)).toBeLessThanOrEqual(360);
    });
  }, 180_000);

  test("a second build is refused with a link to the running one, which can be canceled", async () => {
    const { visit, project, running } = get();
    const made = await running.call("POST", `${running.project}/builds`, { body: { title: "Waits for its archive" } });
    page = await visit(`${project}/builds`, { sameDocument: true });
    await page.getByText("Waits for its archive", { exact: true }).waitFor();
    // The dot of a running build does not move, because the browser asks for less motion.
    await expect.poll(() => page.evaluate("document.getAnimations().length")).toBe(0);
    await expectFitsPhone(page);
    await button("Rebuild").click();
    await dialogButton("Rebuild").click();
    await page.getByRole("alert").getByText("Another build of this project is running.").waitFor();
    await expectAccessible(page);
    await page.getByRole("link", { name: "Show that build" }).click();
    await page.getByRole("heading", { name: "Waits for its archive", level: 1 }).waitFor();
    expect(page.url()).toContain(made.body.build.id);
    await button("Cancel Waits for its archive").click();
    await despiteFault(page, () => dialogButton("Cancel the build").click());
    await page.getByText("Canceled", { exact: true }).waitFor();
    await expectFitsPhone(page);
  });

  test("a list without a readable live build marks none, and says so", async () => {
    const { visit, project, running } = get();
    const build = { ...listedBuild, id: "bld_1", title: "Some build", status: "ready" };
    page = await visit(`${project}/builds`, {
      sameDocument: true,
      prepare: async (unloaded) => {
        await unloaded.route(`**${running.project}/builds?*`, (route) =>
          route.fulfill({
            json: {
              builds: [build],
              nextCursor: null,
              redeployAvailability: { status: "temporarily_unavailable", retryAfter: 5 },
            },
          }),
        );
      },
    });
    await page.getByText("Live? Could not tell").waitFor();
    await page.getByText("Which build serves could not be read just now", { exact: false }).waitFor();
    await expectAccessible(page);
  });

  test("1,000 builds and 100,000 lines are in the document only where they are seen, and the log can be searched", async () => {
    const { visit, project, running } = get();
    let logReads = 0;
    const one = { ...listedBuild, id: "bld_1000", warning: null, canceledAt: null, findings: [], detected: null };
    page = await visit(`${project}/builds`, {
      sameDocument: true,
      prepare: async (unloaded) => {
        await answerWithBuilds(unloaded, 1_000);
        await unloaded.route(`**${running.project}/builds/bld_1000`, (route) =>
          route.fulfill({ json: { build: one } }),
        );
        await unloaded.route(`**${running.project}/builds/bld_1000/logs?*`, async (route) => {
          logReads += 1;
          // A tab that comes back begins to read while it still reads; no line may show twice.
          if (logReads === 3) await unloaded.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
          const from = Number(new URL(route.request().url()).searchParams.get("cursor") ?? 0);
          const lines = Array.from({ length: 10_000 }, (_, index) => ({
            at: listedBuild.createdAt,
            stage: "building",
            text: `line ${from + index + 1}`,
          }));
          return route.fulfill({ json: { lines, nextCursor: from + 10_000 < 100_000 ? String(from + 10_000) : null } });
        });
      },
    });
    await page.getByText("Build 1000", { exact: true }).waitFor();
    const rows = page.getByRole("list", { name: "Builds, newest first" }).getByRole("listitem");
    for (let top = 5_000; top <= 60_000; top += 5_000) {
      await page.evaluate(`scrollTo(0, ${top})`);
      await expect.poll(() => page.evaluate("document.querySelectorAll('.builds > li').length")).toBeLessThan(60);
    }
    const lastSeen = async () => {
      await page.evaluate("scrollTo(0, document.body.scrollHeight)");
      return rows.last().getAttribute("aria-posinset");
    };
    await expect.poll(lastSeen).toBe("1000");

    await goWithin(page, `${project}/builds/bld_1000`);
    await page.getByText("100000 lines", { exact: true }).waitFor();
    expect(await page.locator(".log-line").count()).toBeLessThan(120);
    await page.getByLabel("Search in: Build log").fill("LINE 9999");
    await page.getByText("1 of 11", { exact: true }).waitFor();
    await page.keyboard.press("Shift+Enter");
    await page.getByText("11 of 11", { exact: true }).waitFor();
    await page.getByText("line 99999", { exact: true }).waitFor();
    await expect.poll(() => page.locator("mark").first().textContent()).toBe("line 9999");
  });
});
