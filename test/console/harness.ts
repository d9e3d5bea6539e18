import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Result } from "axe-core";
import { type CDPSession, chromium, type Locator, type Page } from "playwright-core";
import { beforeAll, expect } from "vitest";
import { userOfToken } from "../../local/seed.ts";
import { findChromium } from "../harness/browser.ts";
import { type Running, startRunning } from "../harness/service.ts";

/** Chromium's program; without it, the tests of the console are skipped with a reason: `describe.skipIf(!chromiumFile)`. */
export const chromiumFile = findChromium();

/** The service and the browser of all parts of the console's tests. */
export interface Console {
  readonly running: Running;
  /** `http://localhost:<port>`: browsers allow passkeys there, but not on 127.0.0.1. */
  readonly origin: string;
  /** `/console/orgs/…` and `/console/orgs/…/projects/…` of what is seeded. */
  readonly organization: string;
  readonly project: string;
  /** The one page of all parts, loaded at this path of the console and signed in as the seeded user. Nothing of an earlier visit is left. */
  visit(path: string, options?: VisitOptions): Promise<Page>;
  /** The same page without a session, as it was left: load it. */
  visitSignedOut(): Promise<Page>;
  /** The code of a new one-time link, for the seeded user or another. */
  signInCode(userId?: string): Promise<string>;
  readonly userId: string;
}

interface VisitOptions {
  /** Runs before the page is loaded. */
  prepare?: (page: Page) => Promise<void>;
  /** Changes the page within the loaded document, which keeps its state. A new document costs half a second of processor time with axe. */
  sameDocument?: boolean;
}

/** How a page's window gets another size. */
const windows = new WeakMap<Page, CDPSession>();

/** Errors that a page of the console must never log: broken code and refusals of the content security policy. */
const pageErrors = new WeakMap<Page, string[]>();

let service: Promise<Running> | undefined;

/** The service of all parts, which runs without the browser too. */
export function runningConsole(): Promise<Running> {
  service ??= startRunning();
  return service;
}

async function startConsole(): Promise<Console & { stop(): Promise<void> }> {
  const [running, browser] = await Promise.all([
    runningConsole(),
    chromium.launch({ executablePath: String(chromiumFile), args: ["--no-sandbox"] }),
  ]);
  const { baseUrl, organizationId, projectId, token } = running.seed;
  const origin = `http://localhost:${new URL(baseUrl).port}`;
  const seededUser = userOfToken(token) ?? "";
  const signInCode = async (userId = seededUser) => {
    const { url } = await running.operator("create-sign-in-link", { userId });
    return String(url).split("#code=")[1] ?? "";
  };
  async function newPage(): Promise<Page> {
    const context = await browser.newContext({ viewport: size(wide), reducedMotion: "reduce" });
    context.setDefaultTimeout(30_000);
    const page = await context.newPage();
    windows.set(page, await context.newCDPSession(page));
    const errors: string[] = [];
    pageErrors.set(page, errors);
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("console", (message) => {
      if (/Content Security Policy|TrustedHTML|TrustedScript/.test(message.text())) errors.push(message.text());
    });
    return page;
  }
  // One page for all tests: a new context costs a second of processor time.
  let own: Promise<Page> | undefined;
  let isLoaded = false;
  /** Leaves nothing of an earlier visit but the document and the session. */
  async function clean(): Promise<Page> {
    own ??= newPage();
    const page = await own;
    pageErrors.get(page)?.splice(0);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.context().setOffline(false);
    await setWidth(page, wide);
    return page;
  }
  return {
    running,
    origin,
    organization: `/console/orgs/${organizationId}`,
    project: `/console/orgs/${organizationId}/projects/${projectId}`,
    userId: seededUser,
    signInCode,
    async visitSignedOut() {
      const page = await clean();
      await page.context().clearCookies();
      return page;
    },
    async visit(path, { prepare, sameDocument = false } = {}) {
      const page = await clean();
      const { request } = page.context();
      if ((await request.get(`${origin}/console/session`)).status() !== 200) {
        const answer = await request.post(`${origin}/console/session`, { data: { code: await signInCode() } });
        expect(answer.status()).toBe(201);
      }
      await prepare?.(page);
      if (sameDocument && isLoaded) await goWithin(page, path);
      else await page.goto(origin + path);
      isLoaded = true;
      return page;
    },
    stop: () => browser.close(),
  };
}

let started: ReturnType<typeof startConsole> | undefined;

/** Starts the service before the first part that needs it; the function gives it inside of tests. */
export function useConsole(): () => Console {
  let console: Console | undefined;
  beforeAll(async () => {
    if (!chromiumFile) return;
    started ??= startConsole();
    console = await started;
  }, 120_000);
  return () => {
    if (!console) throw new Error("The console has not been started.");
    return console;
  };
}

/** Ends the service and the browser of all parts. */
export async function stopConsole(): Promise<void> {
  await (await started)?.stop();
  await (await service)?.stop();
}

/** How tests name what is on the page: by role and by the whole text, so that "Second" is not found in "11 seconds ago". */
export function partsOf(page: () => Page) {
  return {
    button: (name: string) => page().getByRole("button", { name, exact: true }),
    dialog: () => page().getByRole("dialog"),
    dialogButton: (name: string) => page().getByRole("dialog").getByRole("button", { name, exact: true }),
    dialogField: (label: string) => page().getByRole("dialog").getByLabel(label, { exact: true }),
    /** The row of a table that contains an element with exactly this text. */
    row: (text: string) =>
      page()
        .getByRole("row")
        .filter({ has: page().getByText(text, { exact: true }) }),
    /** A field by its whole label. */
    field: (label: string) => page().getByLabel(label, { exact: true }),
  };
}

/** Drops files or a folder of this machine on an element, as a person drags them from another window. */
export async function dropOn(target: Locator, files: string[]): Promise<void> {
  await target.scrollIntoViewIfNeeded();
  const box = await target.boundingBox();
  if (!box) throw new Error("What takes the files is not visible.");
  const page = target.page();
  const devtools = await page.context().newCDPSession(page);
  const event = { x: box.x + box.width / 2, y: box.y + 12, data: { items: [], files, dragOperationsMask: 1 } };
  for (const type of ["dragEnter", "dragOver", "drop"] as const) {
    await devtools.send("Input.dispatchDragEvent", { type, ...event });
  }
  await devtools.detach();
}

/**
 * Runs in the page: the next change that it asks the service for is answered with 503. Within the page, because the
 * interception of requests costs several messages for each one, and stops the browser's cache.
 */
const refuseNextChange = `{
  const { fetch } = window;
  window.fetch = (address, options) => {
    const isCall = /^\\/(organizations|me|console)(\\/|$)/.test(new URL(address, location.href).pathname);
    if (!isCall || (options?.method ?? "GET") === "GET") return fetch(address, options);
    window.fetch = fetch;
    const answer = { status: "Unavailable", message: "Later.", code: "unavailable", requestId: "req_1" };
    return Promise.resolve(Response.json(answer, { status: 503, headers: { "retry-after": "40" } }));
  };
}`;

/** Makes a change whose first call is answered with 503: the page says so where the change was made, and makes it again when it is asked. */
export async function despiteFault(page: Page, change: () => Promise<unknown>): Promise<void> {
  await page.evaluate(refuseNextChange);
  await change();
  const alert = page
    .getByRole("alert")
    .filter({ hasText: "The service is busy for a moment. Try again in 40 seconds." });
  await alert.getByRole("button", { name: "Try again" }).click();
}

/** Not `axe.source`, which is twice as long: each new document compiles it. */
const axeSource = readFileSync(join(import.meta.dirname, "../../node_modules/axe-core/axe.min.js"), "utf8");

/** Expects that axe finds nothing on the page, and that the page has logged no error. */
export function expectAccessible(page: Page): Promise<void> {
  return audit(page, "{}");
}

/** Audits the page with axe's options. Without its preload, axe does not load the style sheets again. */
async function audit(page: Page, options: string): Promise<void> {
  // Through the debugger, because the page's own policy refuses foreign scripts.
  const run = `window.axe?.run({ resultTypes: ['violations'], preload: false, ...${options} }).then((result) => result.violations)`;
  let findings: Result[] | undefined = await page.evaluate(run);
  if (!findings) {
    await page.evaluate(axeSource);
    findings = (await page.evaluate(run)) as Result[];
  }
  const shown = findings.map(({ id, help, nodes }) => ({
    id,
    help,
    at: nodes.slice(0, 5).map(({ target, failureSummary }) => `${target.join(" ")}: ${failureSummary}`),
  }));
  expect(shown, page.url()).toEqual([]);
  expect(pageErrors.get(page) ?? []).toEqual([]);
}

const wide = 1280;
const phone = 360;
const size = (width: number) => ({ width, height: 800 });

/** Sets the width of the page's layout. `setViewportSize` also resizes Chromium's window, which costs twice as much. */
async function setWidth(page: Page, width: number): Promise<void> {
  const screen = {
    screenWidth: width,
    screenHeight: 800,
    screenOrientation: { angle: 0, type: "landscapePrimary" },
  } as const;
  const metrics = { ...size(width), ...screen, mobile: false, deviceScaleFactor: 1 };
  await windows.get(page)?.send("Emulation.setDeviceMetricsOverride", metrics);
}

/** Lays the page out for a phone until the work has ended. */
export async function onPhone(page: Page, work: () => Promise<void>): Promise<void> {
  await setWidth(page, phone);
  await work();
  await setWidth(page, wide);
}

/** Expects that nothing is wider than the window: then a page scrolls sideways. */
async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const isWider = "document.documentElement.scrollWidth > document.documentElement.clientWidth";
  await expect.poll(() => page.evaluate(isWider), { message: page.url() }).toBe(false);
}

const onlyColors = "{ runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } }";

/** Expects that the page fits a phone. */
export async function expectFitsPhone(page: Page): Promise<void> {
  await onPhone(page, () => expectNoSidewaysScroll(page));
}

/** Expects that axe finds nothing in light and dark colors, wide and on a phone, and that the page fits the phone. */
export async function expectGoodEverywhere(page: Page): Promise<void> {
  await audit(page, "{}");
  // Nothing but colors differs in the dark.
  await page.emulateMedia({ colorScheme: "dark" });
  await audit(page, onlyColors);
  await onPhone(page, async () => {
    await expectNoSidewaysScroll(page);
    await audit(page, "{}");
    await page.emulateMedia({ colorScheme: "light" });
    await audit(page, onlyColors);
  });
}

/** Goes to an address of the console within the page, without loading the document again. */
export async function goWithin(page: Page, address: string): Promise<void> {
  await page.evaluate(
    `history.pushState(null, "", ${JSON.stringify(address)}); dispatchEvent(new PopStateEvent("popstate"))`,
  );
}
