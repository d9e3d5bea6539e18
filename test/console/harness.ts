import axe from "axe-core";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { userOfToken } from "../../local/seed.ts";
import { findChromium } from "../harness/browser.ts";
import { type Running, startRunning } from "../harness/service.ts";

/** Chromium's program; without it, the tests of the console are skipped with a reason: `describe.skipIf(!chromiumFile)`. */
export const chromiumFile = findChromium();

/** One service and one browser of a test file. */
export interface Console {
  readonly running: Running;
  readonly browser: Browser;
  /** `http://localhost:<port>`: browsers allow passkeys there, but not on 127.0.0.1. */
  readonly origin: string;
  /** `/console/orgs/…` and `/console/orgs/…/projects/…` of what is seeded. */
  readonly organization: string;
  readonly project: string;
  /** A page of a new browser context, signed in as the seeded user (or another), at this path of the console. */
  open(path: string, options?: OpenOptions): Promise<Page>;
  /** The code of a new one-time link. */
  signInCode(userId?: string): Promise<string>;
  readonly userId: string;
}

interface OpenOptions {
  userId?: string;
  width?: number;
  colorScheme?: "light" | "dark";
  /** Runs before the page is opened. */
  prepare?: (context: BrowserContext) => Promise<void>;
}

/** Errors that a page of the console must never log: broken code and refusals of the content security policy. */
const pageErrors = new WeakMap<Page, string[]>();

async function startConsole(): Promise<Console & { stop(): Promise<void> }> {
  const running = await startRunning();
  const { baseUrl, organizationId, projectId, token } = running.seed;
  const origin = `http://localhost:${new URL(baseUrl).port}`;
  const browser = await chromium.launch({ executablePath: String(chromiumFile), args: ["--no-sandbox"] });
  const seededUser = userOfToken(token) ?? "";
  const signInCode = async (userId = seededUser) => {
    const { url } = await running.operator("create-sign-in-link", { userId });
    return String(url).split("#code=")[1] ?? "";
  };
  return {
    running,
    browser,
    origin,
    organization: `/console/orgs/${organizationId}`,
    project: `/console/orgs/${organizationId}/projects/${projectId}`,
    userId: seededUser,
    signInCode,
    async open(path, { userId, width = 1280, colorScheme = "light", prepare } = {}) {
      const context = await browser.newContext({
        viewport: { width, height: 800 },
        colorScheme,
        reducedMotion: "reduce",
      });
      context.setDefaultTimeout(15_000);
      await prepare?.(context);
      const answer = await context.request.post(`${origin}/console/session`, {
        data: { code: await signInCode(userId) },
      });
      expect(answer.status()).toBe(201);
      const page = await context.newPage();
      const errors: string[] = [];
      pageErrors.set(page, errors);
      page.on("pageerror", (error) => errors.push(error.message));
      page.on("console", (message) => {
        if (/Content Security Policy|TrustedHTML|TrustedScript/.test(message.text())) errors.push(message.text());
      });
      await page.goto(origin + path);
      return page;
    },
    async stop() {
      await browser.close();
      await running.stop();
    },
  };
}

/** Starts a service and a browser for the tests of a file; the function gives them inside of tests. */
export function useConsole(): () => Console {
  let started: (Console & { stop(): Promise<void> }) | undefined;
  beforeAll(async () => {
    if (chromiumFile) started = await startConsole();
  }, 120_000);
  afterAll(() => started?.stop());
  return () => {
    if (!started) throw new Error("The console has not been started.");
    return started;
  };
}

interface AxeFinding {
  id: string;
  help: string;
  nodes: { target: string[]; failureSummary?: string }[];
}

/** Expects that axe finds nothing on the page, and that the page has logged no error. */
export async function expectAccessible(page: Page): Promise<void> {
  // Through the debugger, because the page's own policy refuses foreign scripts.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source);
  const audit = "axe.run({ resultTypes: ['violations'] }).then((result) => result.violations)";
  const findings = (await page.evaluate(audit)) as AxeFinding[];
  const shown = findings.map(({ id, help, nodes }) => ({
    id,
    help,
    at: nodes.slice(0, 5).map(({ target, failureSummary }) => `${target.join(" ")}: ${failureSummary}`),
  }));
  expect(shown).toEqual([]);
  expect(pageErrors.get(page) ?? []).toEqual([]);
}

/** Whether something is wider than the window: then a page scrolls sideways. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const [content, view] = (await page.evaluate(
    "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
  )) as [number, number];
  expect(content).toBeLessThanOrEqual(view);
}
