import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import type { BrowserContext } from "playwright-core";
import { Slipway } from "../sdk/node.ts";
import { startConsoleBrowser } from "./console-browser.ts";

/**
 * Makes the pictures in docs/console: `npm run screenshots`. It starts a service with a data folder of its own, deploys
 * examples, and needs Chromium (`CHROMIUM`, default `/usr/bin/chromium`).
 */
const root = join(import.meta.dirname, "..");
const folder = join(root, "docs", "console");

/** Repeats what was measured in the last minute for the hour before, more or less of it, so that the plots have lines. */
function addHistory(home: string): void {
  using database = new DatabaseSync(join(home, "cloudwatch", "metrics.sqlite"));
  const add = database.prepare("INSERT OR IGNORE INTO minute VALUES (?, ?, ?, ?, ?, ?, ?)");
  const newest = database.prepare("SELECT *, max(at) FROM minute GROUP BY metric_id").all();
  for (const { metric_id, at, count, sum, min, max, buckets } of newest) {
    for (let back = 1; back < 58; back += 1) {
      const load = 1 + 0.5 * Math.sin(back / 7) + 0.25 * Math.sin(back * 1.7);
      const slower = Math.round(2 * Math.sin(back / 5));
      const shifted = JSON.parse(String(buckets)).map(([bucket, values]: [number, number]) => [
        bucket + slower,
        values,
      ]);
      const times = Math.max(1, Math.round(Number(count) * load));
      // Requests are counted: each of their values is 1.
      const varied = sum === count ? 1 : 1 + 0.04 * Math.sin(back / 4);
      const total = (Number(sum) / Number(count)) * times * varied;
      add.run(Number(metric_id), Number(at) - back, times, total, Number(min), Number(max), JSON.stringify(shifted));
    }
  }
}

const { home, seed, origin, newContext, stop } = await startConsoleBrowser();
try {
  const { baseUrl, organizationId: orgId, projectId, databaseId: dbId, storageId, accessKey, secretKey, token } = seed;
  const slipway = new Slipway({ baseUrl, accessKey, secretKey });
  const admin = new Slipway({ baseUrl, token });
  await admin.updateOrganization({ orgId, name: "Harbor Coffee" });
  await admin.updateProject({ orgId, projectId, name: "storefront" });
  const { project: newsletter } = await admin.createProject({ orgId, name: "newsletter" });
  await admin.createProject({ orgId, name: "back-office" });

  const { packFolder } = await import("../sdk/folder/pack.ts");
  const { selectFiles } = await import("../sdk/folder/select-files.ts");
  async function deploy(id: string, example: string, title: string): Promise<string> {
    using archive = await packFolder(selectFiles(join(root, "examples", example)));
    try {
      return (await slipway.deploy(archive.path, { orgId, projectId: id, title })).build.id;
    } catch {
      // One of the examples breaks on purpose.
      return String((await slipway.listBuilds({ orgId, projectId: id, limit: 1 })).builds[0]?.id);
    }
  }
  await deploy(newsletter.id, "node-hello", "Confirm subscriptions by e-mail");
  await deploy(projectId, "node-hello", "Opening hours on the front page");
  await deploy(projectId, "node-hello", "New roasts for the winter");
  const broken = await deploy(projectId, "crashes", "Checkout with gift cards");
  const [address] = (await slipway.listEndpoints({ orgId, projectId })).endpoints;
  for (let count = 0; count < 40; count += 1) await fetch(String(address)).catch(() => undefined);
  // The service writes what it measured every few seconds.
  await setTimeout(12_000);
  addHistory(home);

  for (const description of ["production app", "deployments from CI"]) {
    await admin.createCredential({ orgId, projectId, description });
  }
  await admin.createDomain({ orgId, projectId, domain: "www.harbor-coffee.example" });
  await admin.createDomain({ orgId, projectId, domain: "shop.harbor-coffee.example" });
  const columns = [
    { name: "name", type: "string", nullable: false },
    { name: "origin", type: "string" },
    { name: "roasted_at", type: "date" },
    { name: "price_cents", type: "integer" },
    { name: "in_stock", type: "boolean", default: true },
  ] as const;
  const comment = "What the shop sells";
  await admin.createTable({ orgId, dbId, name: "coffees", comment, columns: columns.map((column) => ({ ...column })) });
  const coffees = [
    ["Yirgacheffe", "Ethiopia", 1490],
    ["Huila", "Colombia", 1290],
    ["Antigua", "Guatemala", 1350],
    ["Nyeri AA", "Kenya", 1620],
    ["Cerrado", "Brazil", 1090],
    ["Mandheling", "Sumatra", 1380],
  ] as const;
  for (const [index, [name, from, price_cents]] of coffees.entries()) {
    const roasted_at = `2026-11-${10 + index}T08:30:00.000Z`;
    const row = { name, origin: from, roasted_at, price_cents, in_stock: index !== 3 };
    await admin.createRow({ orgId, dbId, tableName: "coffees", row });
  }
  const files = [
    ["price-list.txt", "text/plain", "Yirgacheffe 14.90\nHuila 12.90\n"],
    ["opening-hours.json", "application/json", '{"monday": "8 to 18"}'],
    ["logo.svg", "image/svg+xml", await readFile(join(root, "console", "icon.svg"), "utf8")],
  ] as const;
  for (const [name, mime, text] of files) {
    await admin.uploadFile(Buffer.from(text), { orgId, storageId, name, mime });
  }

  const project = `/console/orgs/${orgId}/projects/${projectId}`;
  const pages = {
    projects: `/console/orgs/${orgId}`,
    overview: project,
    builds: `${project}/builds`,
    build: `${project}/builds/${broken}`,
    app: `${project}/app`,
    keys: `${project}/keys`,
    domains: `${project}/domains`,
    rows: `/console/orgs/${orgId}/databases/${dbId}/tables/coffees`,
    files: `/console/orgs/${orgId}/storages/${storageId}`,
  };
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  async function shoot(context: BrowserContext, name: string, path: string, file: string): Promise<void> {
    const page = await context.newPage();
    await page.goto(origin + path);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.locator(".loading").waitFor({ state: "detached" });
    await page.waitForLoadState("networkidle");
    await page.waitForTimeout(500);
    await page.screenshot({ path: join(folder, `${name}-${file}.png`) });
    await page.close();
  }
  for (const width of [1280, 360]) {
    for (const colorScheme of ["light", "dark"] as const) {
      const viewport = { width, height: width === 360 ? 720 : 800 };
      const context = await newContext({ viewport, colorScheme, reducedMotion: "reduce" });
      for (const [name, path] of Object.entries(pages)) await shoot(context, name, path, `${width}-${colorScheme}`);
      await context.close();
    }
  }
} finally {
  await stop();
}
