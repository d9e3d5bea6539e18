import { isLeftover } from "../zip/leftover.ts";

/** A file of an archive; `text` gives undefined when it is binary or too large to be read. */
export interface SourceFile {
  size: number;
  kind: "file" | "symlink";
  text?: () => string | undefined;
  /** False if the text is already known to contain no address of the developer's own machine. */
  mayNameLocalUrl?: boolean;
}

/** The files of an archive that analysis sees: relative paths with `/`, with the text of the files that `wants` selects. */
export interface SourceTree {
  files: ReadonlyMap<string, SourceFile>;
}

const HIDDEN_FOLDERS = /(^|\/)(\.git|\.hg|\.svn)\//;

/** True for the leftovers of file managers and version control, which detection never sees (docs/detection.md, Root). */
export const isJunk = (path: string): boolean => isLeftover(path) || HIDDEN_FOLDERS.test(path);

const VENDORED =
  /(^|\/)(node_modules|bower_components|jspm_packages|vendor|vendors|third[_-]?party|site-packages|\.?venv|virtualenv|\.tox|\.nox|__pycache__|\.pnpm-store|\.yarn|\.next|\.nuxt|\.output|\.svelte-kit|\.angular|\.turbo|\.cache|\.parcel-cache|dist|dist[-_][^/]+|built|build|out|coverage|htmlcov|staticfiles|\.eggs|[^/]+\.egg-info|Pods)\//;
const MINIFIED = /([.-]min\.(js|mjs|cjs|css)|\.bundle\.js|\.chunk\.js|\.map)$/i;

/** True for files that the app's authors did not write by hand: packages, build output, minified bundles. */
export const isVendored = (path: string): boolean => VENDORED.test(path) || MINIFIED.test(path);

const MANIFEST =
  /(^|\/)(package\.json|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|pnpm-workspace\.yaml|yarn\.lock|\.yarnrc\.yml|\.yarnrc|bun\.lock|\.npmrc|\.nvmrc|\.node-version|\.tool-versions|\.?mise\.toml|\.python-version|runtime\.txt|[^/]*requirements[^/]*\.(txt|in)|pyproject\.toml|Pipfile|Pipfile\.lock|poetry\.lock|uv\.lock|pdm\.lock|setup\.(py|cfg)|Procfile|angular\.json|polymer\.json|tsconfig[^/]*\.json|nest-cli\.json|ecosystem[^/]*\.json|wrangler\.(toml|jsonc?)|slipway\.json|_config\.ya?ml|config\.toml|pyvenv\.cfg)$/i;
const REQUIREMENTS = /(^|\/)requirements\/[^/]+\.(txt|in)$/;
/** Matches files that a requirements file may include. */
const INCLUDED = /\.(txt|in|cfg)$/i;
const SOURCE = /\.(js|mjs|cjs|ts|mts|cts|jsx|tsx|vue|svelte|astro|py)$/i;
const SETTINGS =
  /(^|\/)\.env[^/]*$|\.(json|ya?ml|toml|ini|cfg|conf|properties|env|sh|pem|key|xml|tf|tfvars|html?|ejs|hbs|pug|txt|rb|php|java|go|cs|kt|sql|ps1|bat|cmd|hcl|ipynb|bak|old)$|(^|\/)(Dockerfile|\.netrc|\.pypirc|id_rsa|id_dsa|id_ecdsa|id_ed25519|credentials)$/i;

/** Matches files that identify an app when the whole archive is in a folder named like build output. */
const WRAPPED_IN_BUILT =
  /^(dist|build|built|out)\/((?:package|package-lock|angular)\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lock|\.nvmrc|\.node-version|\.python-version|runtime\.txt|requirements\.txt|pyproject\.toml|Pipfile|Procfile|[^/]+\.py|(server|app|main|index)\.[cm]?[jt]s)$/;

const manifestSizeMax = 32 * 1024 * 1024;
const sourceSizeMax = 1024 * 1024;

/** True for the files whose text analysis reads: manifests up to 32 MiB, sources and settings up to 1 MiB. `size` in bytes. */
export function wants(path: string, size: number): boolean {
  if (isJunk(path)) return false;
  if (/(^|\/)(\.venv|venv|env)\/pyvenv\.cfg$/.test(path)) return size <= sourceSizeMax;
  if (isVendored(path)) return size <= sourceSizeMax && WRAPPED_IN_BUILT.test(path);
  if (MANIFEST.test(path) || REQUIREMENTS.test(path)) return size <= manifestSizeMax;
  return (SOURCE.test(path) || SETTINGS.test(path)) && size <= sourceSizeMax;
}

/** True for the files, among those that `wants` names, that detection reads; the others are only searched for secrets. */
export const isForDetection = (path: string): boolean =>
  MANIFEST.test(path) || REQUIREMENTS.test(path) || SOURCE.test(path) || INCLUDED.test(path);

/** Decodes a file's bytes with any BOM (UTF-8, UTF-16) and any line endings; undefined if the file is binary. */
export function decodeText(bytes: Uint8Array): string | undefined {
  const text = decoders[encodingOf(bytes)].decode(bytes);
  if (text.includes("\0")) return undefined;
  return normalizeText(text);
}

const decoders = {
  "utf-8": new TextDecoder("utf-8"),
  "utf-16le": new TextDecoder("utf-16le"),
  "utf-16be": new TextDecoder("utf-16be"),
};

function encodingOf(bytes: Uint8Array): keyof typeof decoders {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  if (bytes.length >= 4 && bytes.length % 2 === 0) {
    if (second === 0 && bytes[3] === 0 && first !== 0) return "utf-16le";
    if (first === 0 && bytes[2] === 0 && second !== 0) return "utf-16be";
  }
  return "utf-8";
}

/** Text without BOM and with `\n` at the end of its lines. */
export function normalizeText(text: string): string {
  const body = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  return body.includes("\r") ? body.replace(/\r\n?/g, "\n") : body;
}

/** The depth of a path: the number of its parent folders. */
export function depthOf(path: string): number {
  let depth = 0;
  for (let slash = path.indexOf("/"); slash !== -1; slash = path.indexOf("/", slash + 1)) depth += 1;
  return depth;
}

/** The tree without junk files, with normalized relative paths. */
export function withoutJunk(tree: SourceTree): SourceTree {
  const files = new Map<string, SourceFile>();
  for (const [path, file] of tree.files) {
    const clean = path.replaceAll("\\", "/").replace(/^(\.?\/)+/, "");
    if (clean === "" || clean.endsWith("/") || isJunk(clean)) continue;
    files.set(clean, file);
  }
  return { files };
}
