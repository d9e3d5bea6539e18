import { brotliDecompressSync } from "node:zlib";
import type { ConsoleFile } from "../../../console/bundle.ts";
import type { PageContent } from "../../http/page.ts";

/** The console's files as JSON in a Lambda bundle, where scripts/bundle replaces this name; undefined elsewhere. */
declare const CONSOLE_FILES: string | undefined;

const root = "/console";
const assets = `${root}/assets/`;
const indexName = "index.html";

/** Scripts and styles come from this origin alone, and nothing is inline; archives and files go to S3 directly. */
function policyFor(uploadOrigins: readonly string[]): string {
  const uploads = uploadOrigins.join(" ");
  return [
    "default-src 'self'",
    `connect-src 'self' ${uploads}`,
    `img-src 'self' blob: data: ${uploads}`,
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join("; ");
}

function contentOf(file: ConsoleFile, headers: Record<string, string>): PageContent {
  const text = brotliDecompressSync(Buffer.from(file.brotli, "base64")).toString();
  return { contentType: file.contentType, text, brotli: file.brotli, headers };
}

/** The console's files by address. Names of assets contain a hash, so that browsers keep them forever. */
class ConsoleSite {
  readonly #files: ReadonlyMap<string, ConsoleFile>;
  readonly #contents = new Map<string, PageContent>();

  constructor(files: readonly ConsoleFile[]) {
    this.#files = new Map(files.map((file) => [file.name, file]));
  }

  /** The asset of a path, the index for an address of a page, and undefined for a file that does not exist. */
  contentAt(path: string, uploadOrigins: readonly string[]): PageContent | undefined {
    if (path.startsWith(assets)) {
      return this.#content(path.slice(assets.length), { "cache-control": "public, max-age=31536000, immutable" });
    }
    if (/\.[^/]*$/.test(path)) return undefined;
    return this.#content(indexName, {
      "content-security-policy": policyFor(uploadOrigins),
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
      "permissions-policy": "camera=(), geolocation=(), microphone=()",
    });
  }

  #content(name: string, headers: Record<string, string>): PageContent | undefined {
    // The policy of the index follows from the environment, which changes when several services run in one process.
    const key = `${name} ${JSON.stringify(headers)}`;
    const known = this.#contents.get(key);
    if (known) return known;
    const file = this.#files.get(name);
    if (!file) return undefined;
    const content = contentOf(file, headers);
    this.#contents.set(key, content);
    return content;
  }
}

let site: Promise<ConsoleSite> | undefined;

async function loadFiles(): Promise<readonly ConsoleFile[]> {
  return typeof CONSOLE_FILES === "string"
    ? JSON.parse(CONSOLE_FILES)
    : (await import("../../../console/bundle.ts")).bundleConsole("quick");
}

/** The console, loaded once per Lambda instance; on one machine the first request bundles it from its sources. */
export function consoleSite(): Promise<ConsoleSite> {
  site ??= loadFiles().then(
    (files) => new ConsoleSite(files),
    (error: unknown) => {
      site = undefined;
      throw error;
    },
  );
  return site;
}
