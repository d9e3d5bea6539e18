import { mkdtempSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from "playwright-core";
import type * as z from "zod";
import { localFile } from "../local/seed.ts";
import { startService } from "../local/service.ts";

/** A local service with a data folder of its own, and Chromium. */
export interface ConsoleBrowser {
  /** The data folder. */
  home: string;
  seed: z.infer<typeof localFile>;
  /** `http://localhost:<port>`. */
  origin: string;
  browser: Browser;
  /** A browser that has stored nothing but a session of the seeded user. */
  newContext(options: BrowserContextOptions): Promise<BrowserContext>;
  stop(): Promise<void>;
}

/** Chromium's program. */
export const chromiumFile = process.env.CHROMIUM ?? "/usr/bin/chromium";

export async function startConsoleBrowser(): Promise<ConsoleBrowser> {
  const home = mkdtempSync(join(tmpdir(), "slipway-console-"));
  const service = await startService({ home, port: 0 });
  const browser = await chromium.launch({ executablePath: chromiumFile, args: ["--no-sandbox"] });
  const seed = localFile.parse(JSON.parse(readFileSync(join(home, "local.json"), "utf8")));
  const origin = `http://localhost:${new URL(seed.baseUrl).port}`;
  const link = (await service.newSignInLink()) ?? "";
  const first = await browser.newContext();
  await first.request.post(`${origin}/console/session`, { data: { code: link.split("#code=")[1] } });
  const storageState = await first.storageState();
  await first.close();
  return {
    home,
    seed,
    origin,
    browser,
    newContext: (options) => browser.newContext({ ...options, storageState }),
    async stop() {
      await browser.close();
      await service.stop();
      await rm(home, { recursive: true, force: true });
    },
  };
}
