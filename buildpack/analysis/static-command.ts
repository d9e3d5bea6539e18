import type { StaticSite } from "./plan.ts";

/** Where the static file server lies in the app's root, in the image and in a local build alike. */
export const staticServerPath = ".slipway/static-server.mjs";

/** The command line that serves a folder of built files. */
export function staticServerCommand(site: StaticSite): string {
  const fallback = site.fallback === "index.html" ? "" : ` ${shellWord(site.fallback)}`;
  return `node ${staticServerPath} ${shellWord(site.dir)}${fallback}`;
}

/** The last build command of a static site: it compresses text and removes links that lead out of the folder. */
export const staticPrepareCommand = (site: StaticSite): string =>
  `node ${staticServerPath} --prepare ${shellWord(site.dir)}`;

/** Quotes a word for a shell if necessary. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
