import type { App } from "../app.ts";
import { type Diagnostics, lineOf, suggest } from "../diagnostics.ts";
import { isWorker, wranglerFiles, wranglerScript } from "../node/unserved.ts";

/** A file that another platform runs beside the built files of a site. */
interface PlatformFunction {
  platform: string;
  file: string;
  line: number;
}

/** Advises on functions of a site for another platform: only the built files are served, so requests to the functions find nothing. */
export function suggestFunctions(app: App, diagnostics: Diagnostics): void {
  const found = platformFunction(app);
  if (found === undefined) return;
  suggest(diagnostics, app, {
    code: "functions_not_run",
    message: `Only the files that the build writes are served: ${app.shown(found.file)} declares functions for ${found.platform}, which are not run. Answer their requests with a server of the app's own, and start it with "scripts": {"start": …}.`,
    file: found.file,
    line: found.line,
  });
}

function platformFunction(app: App): PlatformFunction | undefined {
  const wrangler = wranglerFiles.find((path) => app.has(path));
  if (wrangler !== undefined && isWorker(app))
    return { platform: "Cloudflare", file: wrangler, line: lineOf(app.text(wrangler), wranglerScript) };
  const inFolder = (folder: string) =>
    app.paths.find((path) => path.startsWith(folder) && /\.[cm]?[jt]sx?$/.test(path) && !/\.(?:test|d)\./.test(path));
  const places: [string, string, boolean][] = [
    ["functions/", "Cloudflare", wrangler !== undefined],
    ["netlify/functions/", "Netlify", true],
    ["netlify/edge-functions/", "Netlify", true],
    ["api/", "Vercel", app.has("vercel.json")],
  ];
  for (const [folder, platform, isUsed] of places) {
    const file = isUsed ? inFolder(folder) : undefined;
    if (file !== undefined) return { platform, file, line: 1 };
  }
  return undefined;
}
