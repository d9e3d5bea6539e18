import type { StaticSite } from "./plan.ts";

/** Where the static file server lies in the app's root, in the image and in a local build alike. */
export const staticServerPath = ".slipway/static-server.mjs";

/** The command line that serves a folder of built files. */
export function staticServerCommand(site: StaticSite): string {
  const fallback = site.fallback === "index.html" ? "" : ` ${shellWord(site.fallback)}`;
  return `node ${staticServerPath} ${shellWord(site.dir)}${fallback}`;
}

/** The command line that ends the build of a folder that is to be served: text compressed, links that lead out removed. */
export const staticPrepareCommand = (site: StaticSite): string =>
  `node ${staticServerPath} --prepare ${shellWord(site.dir)}`;

/** A word that a shell reads as it is. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
