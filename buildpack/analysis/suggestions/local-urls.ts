import { type App, writtenFiles } from "../app.ts";
import { type Diagnostics, escapeRegExp, lineAt, quoted, suggest } from "../diagnostics.ts";
import { isGenerated, withoutComments } from "../source.ts";

const SOURCE = /\.(js|mjs|cjs|ts|mts|cts|jsx|tsx|vue|svelte|astro|py)$/;
const ASIDE =
  /(^|\/)(tests?([-_][^/]+)?|__tests__|__mocks__|mocks?|specs?|e2e|cypress|playwright|fixtures?|examples?|samples?|demos?|docs?|documentation|scripts?|tools?|bench(marks?)?|stories|\.storybook|\.github|\.vscode|migrations|seeds?|locales?|i18n|notebooks)\//i;
const ASIDE_FILE =
  /(\.|_|-)(test|spec|e2e|stories|story|mock|fixture|example|sample|setup|d)\.[^.]+$|^[^/]+\.config\.[^.]+$|(^|\/)(vite|vitest|next|nuxt|astro|svelte|vue|quasar|craco|webpack|rollup|rspack|rsbuild|playwright|cypress|jest|wdio|orval|tailwind|postcss|eslint|drizzle|prisma|codegen|nx|module-federation)\.config(\.[^./]+)?\.[^.]+$|(^|\/)(tests?|(test|tests|check|verify|debug|smoke|load|stress|seed|demo)[-_][^/]*|conftest|locustfile|lighthouserc|health-?check|codegen|\.[^/]+rc|proxy\.conf|setup|[^/]*_test|setupTests|setupProxy|gulpfile|gruntfile|karma\.conf|protractor\.conf|swagger[^/]*|openapi[^/]*|[^/]*dev[^/]*settings|settings[-_.]?(dev|local|test)\w*|local[-_.]?settings|environment(\.development|\.dev|\.local)?|dev|development|local)\.[^.]+$|(^|\/)settings\/(dev|development|local|test)\w*\.py$/i;
const LOCAL_URL =
  /https?:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])(?![\w.-])(?!:?(?:\$?\{|%[ds]|["'`]\s*\+))(:\d{2,5})?/g;

/** A file with more addresses is treated as data and skipped, because each address takes time to check. */
const addressesMax = 1000;

/** True for a text with an address of the developer's own machine anywhere in it, comments included. */
export const namesLocalUrl = (text: string): boolean =>
  /https?:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])/.test(text);

/** Advises against addresses of the developer's own machine in source that runs: not in tests, docs, comments, log lines or fallbacks. */
export function suggestLocalUrls(app: App, diagnostics: Diagnostics): void {
  for (const path of writtenFiles(app, SOURCE)) {
    const raw = ASIDE.test(path) || !app.mayNameLocalUrl(path) ? undefined : app.text(path);
    if (
      raw === undefined ||
      (ASIDE_FILE.test(path) && !PRODUCTION_SETTINGS.test(raw)) ||
      !namesLocalUrl(raw) ||
      isGenerated(raw) ||
      /\bBaseSettings\b/.test(raw)
    )
      continue;
    const text = withoutComments(path, raw);
    const match = [...text.matchAll(LOCAL_URL)]
      .slice(0, addressesMax)
      .find((found) => isUsed(text, found.index, found.index + found[0].length));
    if (match === undefined) continue;
    suggest(diagnostics, app, {
      code: "hardcoded_url",
      message: `${quoted(match[0])} is an address of the developer's own machine, which the deployed app cannot reach. Read the address from an environment variable.`,
      file: path,
      line: lineAt(text, match.index),
    });
  }
}

/** Matches settings that declare themselves production settings, with any file name. */
const PRODUCTION_SETTINGS = /^[ \t]*production\s*:\s*true\b/m;

const LOG =
  /(\b(console|logger?|logging|log|winston|pino|signale|chalk|consola|debug|spinner|stdout|webbrowser)\s*(\.\s*\w+)*|\b(print|println|info|warn|echo|describe|it|expect|help|Error|Exception))\s*(\(|`)[^;]*$/;
const ALLOWANCE =
  /\b(addServer|\w*origins?|cors\w*|\w*allow\w*|\w*trusted\w*|whitelist|csp|connect-?src|servers|proxy|internal_ips|placeholder|example\w*|description|help|summary|docs?|title|label|message|comment)["'`]?\s*[:=(]|allow-origin|withOrigins/i;
const DEVELOPMENT =
  /\b(if|elif|switch|case|when)\b[\s\S]*\b(dev|development|debug|local\w*|isDev|isLocal\w*|__DEV__|NODE_ENV|production|prod|env)\b|\b(dev|development|local|test|testing)\w*["']?\s*[:=]\s*["'`{[(]|\belse\b|__DEV__|\b(process|import\.meta)\.env\b[^;]{0,80}&&|\b(NODE_ENV|env)\b["')\]]*\s*===?\s*["'`](dev|local|test)[\s\S]*$|\bclass\s+\w*(dev|development|test|testing|local)(config|settings)?\b/i;

/** Matches the text before an address that is only a fallback, a base URL, or an operand of a comparison. */
const HARMLESS_BEFORE: readonly RegExp[] = [
  /(\?\?=?|\|\|=?|\bor|\belse)\s*\(?\s*f?["'`]$/,
  /\?\s[^?;]*:\s*["'`]$|\?\s*["'`]$/,
  /\b(get|getenv|config|env|environ|str|url|getOrThrow|setdefault|pop|default|Field|Query)\w*\s*\([^()]*,\s*(default\s*=\s*)?f?["'`]$/i,
  /\b(default|defaultValue|fallback)\w*["']?\s*[:=(]\s*f?["'`]$/i,
  /\b(Field|Option|Argument)\(\s*f?["'`]$/,
  /\bnew URL\([^;]*,\s*["'`]$/,
  /[=!]==?\s*["'`]$|\b(startsWith|endsWith|includes|indexOf|replace|replaceAll|match|test|startswith|endswith)\s*\(\s*["'`]$|\bin\s*[[(]/,
  /\b(process\.env|import\.meta\.env|environ)\b[\s\S]*\breturn\s+f?["'`]$/,
];

/** True if the running app would call the address at this offset. */
function isUsed(text: string, from: number, to: number): boolean {
  const lineStart = text.lastIndexOf("\n", from - 1) + 1;
  const lineEnd = text.indexOf("\n", to) === -1 ? text.length : text.indexOf("\n", to);
  const before = text.slice(lineStart, from);
  const ahead = text.slice(Math.max(0, from - 250), from);
  if (!/(["'`]|\b(href|src|action)=)$/.test(ahead)) return false;
  if (HARMLESS_BEFORE.some((pattern) => pattern.test(ahead))) return false;
  if (isReplaced(text, before, text.slice(to, to + 400))) return false;
  if (/\burlparse|URL\.parse\(/.test(text.slice(lineStart, lineEnd))) return false;
  const enclosing = statementsAround(text, from);
  if (/\b(def|function|constructor)\b[^(]*\($/.test(enclosing[0] ?? "")) return false;
  const after = text.slice(to, lineEnd);
  return ![before, PYTHON_CONDITION.exec(after)?.[0] ?? "", ...enclosing, ...blocksAround(text, lineStart)].some(
    (opening) => LOG.test(opening) || ALLOWANCE.test(opening) || DEVELOPMENT.test(opening),
  );
}

/** True for a default that the environment, or a later line that reads the environment, may override. */
function isReplaced(text: string, before: string, after: string): boolean {
  if (/^[^{}=;]*\}\s*=\s*[\w.]*\benv\b/.test(after)) return true;
  const name = /(?:^|[\s;])([\w$]+)\s*(?::\s*\w+\s*)?=\s*["'`]$/.exec(before)?.[1];
  if (name === undefined) return false;
  return new RegExp(`\\b${escapeRegExp(name)}\\s*=[^=\\n]*\\b(env|environ|getenv)\\b`).test(text);
}

/** `"…" if DEBUG else "…"` after the address. */
const PYTHON_CONDITION = /^[^"']*["']\s+if\s.*\selse\b/;

/** The conditions and classes that enclose a line of Python, innermost first. */
function blocksAround(text: string, lineStart: number): string[] {
  const found: string[] = [];
  const lines = text
    .slice(Math.max(0, lineStart - 2000), lineStart)
    .split("\n")
    .slice(0, -1);
  const indentOf = (line: string) => line.search(/\S/);
  let indent = indentOf(text.slice(lineStart));
  for (const line of lines.toReversed()) {
    const own = indentOf(line);
    if (own === -1 || own >= indent) continue;
    indent = own;
    if (/^\s*(if|elif|else|case|class)\b.*:$/.test(line)) found.push(line);
  }
  return found;
}

const enclosingMax = 6;

/** The text before each bracket that encloses an offset, innermost first; includes the previous line if the expression starts there. */
function statementsAround(text: string, offset: number): string[] {
  const found: string[] = [];
  let depth = 0;
  const end = Math.max(0, offset - 2000);
  for (let at = offset - 1; at >= end && found.length < enclosingMax; at -= 1) {
    const char = text[at] ?? "";
    if (/[)\]}]/.test(char)) depth += 1;
    else if (/[([{]/.test(char) && depth > 0) depth -= 1;
    else if (/[([{]/.test(char)) found.push(openingOf(text, at));
  }
  return found;
}

function openingOf(text: string, bracket: number): string {
  const start = text.lastIndexOf("\n", bracket - 1) + 1;
  const line = text.slice(Math.max(start, bracket - 120), bracket + 1);
  if (start === 0 || !/^\s*(\?|:|&&|\|\|)/.test(line)) return line;
  return text.slice(Math.max(text.lastIndexOf("\n", start - 2) + 1, start - 120), start) + line;
}
