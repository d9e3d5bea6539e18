import { existsSync } from "node:fs";
import { brotliDecompressSync, gzipSync } from "node:zlib";
import type { CDPSession } from "playwright-core";
import { bundleConsole } from "../../console/bundle.ts";
import { type ConsoleBrowser, chromiumFile, startConsoleBrowser } from "../console-browser.ts";
import { answerWithBuilds } from "./many-builds.ts";
import { type Measured, median } from "./measure.ts";

const sizeKiBMax = 100;
const interactiveMsMax = 1_000;
const slowdown = 4;
const builds = 1_000;
const framesPerSecond = 60;
const scrolledFrames = 300;

async function benchSize(): Promise<Measured> {
  const files = await bundleConsole("small");
  const sizes = files.map(({ brotli }) => gzipSync(brotliDecompressSync(Buffer.from(brotli, "base64"))).length);
  const sizeKiB = sizes.reduce((sum, size) => sum + size, 0) / 1024;
  return {
    name: `console: all files by gzip / ${sizeKiBMax} KiB`,
    ratio: sizeKiB / sizeKiBMax,
    bound: 1,
    detail: `${sizeKiB.toFixed(1)} KiB in ${files.length} files`,
  };
}

/** Notes when the list of projects is drawn and the main thread is free again: then a press is answered at once. */
const noteInteractive = `window.interactiveMs = new Promise((resolve) =>
  new MutationObserver((_, observer) => {
    if (!document.querySelector(".cards h2")) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
  }).observe(document, { childList: true, subtree: true }),
);`;

/** What the main thread of the page has worked in milliseconds of processor time, which other programs do not change. */
async function workOf(devtools: CDPSession): Promise<number> {
  const { metrics } = await devtools.send("Performance.getMetrics");
  return 1_000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN);
}

/** From the request for the page until it answers a press, with an empty cache. */
async function openFirstPage({ newContext, origin, seed }: ConsoleBrowser, rate: number) {
  const context = await newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  await devtools.send("Emulation.setCPUThrottlingRate", { rate });
  await page.addInitScript(noteInteractive);
  await page.goto(`${origin}/console/orgs/${seed.organizationId}`);
  const ms = Number(await page.evaluate("window.interactiveMs"));
  const workMs = await workOf(devtools);
  await page.getByRole("button", { name: "New project" }).click();
  await page.getByRole("dialog").waitFor();
  await context.close();
  return { ms, workMs };
}

async function benchFirstPage(consoleBrowser: ConsoleBrowser): Promise<Measured> {
  await openFirstPage(consoleBrowser, 1);
  const [slow, full]: [number[], number[]] = [[], []];
  const work: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    slow.push((await openFirstPage(consoleBrowser, slowdown)).ms);
    const { ms, workMs } = await openFirstPage(consoleBrowser, 1);
    full.push(ms);
    work.push(workMs);
  }
  const ms = median(slow);
  const detail = `p50 ${ms.toFixed(0)} ms on a processor ${slowdown} times slower, ${median(full).toFixed(0)} ms without`;
  return {
    name: `console: first page interactive / ${interactiveMsMax} ms`,
    ratio: ms / interactiveMsMax,
    bound: 1,
    detail: `${detail}, of which the page works ${median(work).toFixed(0)} ms`,
  };
}

/** Scrolls down and up again, a step each frame; resolves with the milliseconds between frames. */
const scroll = `new Promise((resolve) => {
  const between = [];
  const end = document.documentElement.scrollHeight - innerHeight;
  let last = performance.now();
  const step = (now) => {
    between.push(now - last);
    last = now;
    const part = between.length / ${scrolledFrames};
    if (part >= 1) return resolve(between.slice(1));
    scrollTo(0, end * (part < 0.5 ? 2 * part : 2 - 2 * part));
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})`;

async function benchScrolling({ newContext, origin, seed }: ConsoleBrowser): Promise<Measured[]> {
  const context = await newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await answerWithBuilds(page, builds);
  await page.goto(`${origin}/console/orgs/${seed.organizationId}/projects/${seed.projectId}/builds`);
  const rows = page.getByRole("list", { name: "Builds, newest first" }).getByRole("listitem");
  // All pages of the list, so that only drawing is measured.
  while ((await rows.last().getAttribute("aria-posinset")) !== String(builds)) {
    await page.evaluate("scrollTo(0, document.body.scrollHeight)");
    await page.waitForTimeout(50);
  }
  const devtools = await context.newCDPSession(page);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  const before = await workOf(devtools);
  const between = (await page.evaluate(scroll)) as number[];
  const workMs = ((await workOf(devtools)) - before) / between.length;
  await context.close();
  const frameMs = 1_000 / framesPerSecond;
  const frames = 1_000 / median(between);
  const late = between.filter((ms) => ms > 1.5 * frameMs).length;
  return [
    {
      name: `console: ${framesPerSecond} / frames per second while ${builds.toLocaleString("en")} builds scroll`,
      ratio: framesPerSecond / frames,
      bound: 1.05,
      detail: `${frames.toFixed(0)} frames per second (median), ${late} of ${between.length} frames late`,
    },
    {
      name: "console: the page's work for a frame / the time of a frame",
      ratio: workMs / frameMs,
      bound: 1,
      detail: `${workMs.toFixed(1)} ms of ${frameMs.toFixed(1)} ms`,
    },
  ];
}

/** The console's size, its first page, and a long list. */
export async function benchConsole(): Promise<Measured[]> {
  const size = await benchSize();
  if (!existsSync(chromiumFile)) {
    console.log(`the console's pages are not measured: there is no ${chromiumFile}`);
    return [size];
  }
  const consoleBrowser = await startConsoleBrowser();
  try {
    return [size, await benchFirstPage(consoleBrowser), ...(await benchScrolling(consoleBrowser))];
  } finally {
    await consoleBrowser.stop();
  }
}
