import { mkdtempSync, readFileSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, chromium } from "playwright-core";
import { startService } from "../local/service.ts";
import { Slipway } from "../sdk/node.ts";

/**
 * Makes the pictures in docs/console: `npm run screenshots`. It starts a service with a data folder of its own, deploys
 * examples, and needs Chromium (`CHROMIUM`, default `chromium`).
 */
const root = join(import.meta.dirname, "..");
const folder = join(root, "docs", "console");
const home = mkdtempSync(join(tmpdir(), "slipway-screenshots-"));

const service = await startService({ home, port: 0 });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  const {
    baseUrl,
    organizationId: orgId,
    projectId,
    accessKey,
    secretKey,
    token,
  } = JSON.parse(readFileSync(join(home, "local.json"), "utf8"));
  const origin = `http://localhost:${new URL(baseUrl).port}`;
  const slipway = new Slipway({ baseUrl, accessKey, secretKey });
  const admin = new Slipway({ baseUrl, token });
  await admin.updateOrganization({ orgId, name: "Harbor Coffee" });
  await admin.updateProject({ orgId, projectId, name: "storefront" });
  const { project: newsletter } = await admin.createProject({ orgId, name: "newsletter" });
  await admin.createProject({ orgId, name: "back-office" });

  const { packFolder } = await import("../cli/folder/pack.ts");
  const { selectFiles } = await import("../cli/folder/select-files.ts");
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

  const project = `/console/orgs/${orgId}/projects/${projectId}`;
  const pages = {
    projects: `/console/orgs/${orgId}`,
    overview: project,
    builds: `${project}/builds`,
    build: `${project}/builds/${broken}`,
    app: `${project}/app`,
  };
  const link = (await service.newSignInLink()) ?? "";
  const first = await browser.newContext();
  await first.request.post(`${origin}/console/session`, { data: { code: link.split("#code=")[1] } });
  const storageState = await first.storageState();

  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  async function shoot(context: BrowserContext, name: string, path: string, file: string): Promise<void> {
    const page = await context.newPage();
    await page.goto(origin + path);
    await page.getByRole("heading", { level: 1 }).waitFor();

    await page.waitForTimeout(1_500);
    await page.screenshot({ path: join(folder, `${name}-${file}.png`) });
    await page.close();
  }
  for (const width of [1280, 360]) {
    for (const colorScheme of ["light", "dark"] as const) {
      const viewport = { width, height: width === 360 ? 720 : 800 };
      const context = await browser.newContext({ storageState, viewport, colorScheme, reducedMotion: "reduce" });
      for (const [name, path] of Object.entries(pages)) await shoot(context, name, path, `${width}-${colorScheme}`);
      await context.close();
    }
  }
} finally {
  await browser.close();
  await service.stop();
  await rm(home, { recursive: true, force: true });
}
