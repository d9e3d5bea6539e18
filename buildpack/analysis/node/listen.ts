import type { App } from "../app.ts";
import { escapeRegExp, lineAt } from "../diagnostics.ts";
import type { FixedPort } from "../port.ts";
import { isGenerated, type Source } from "../source.ts";
import { nodeEntry, reachable } from "./sources.ts";

/** The fixed port of a Node.js app: `listen(3000)` in the entry file or its imports, if none of these files reads PORT. */
export function nodeListenPort(app: App, line: string): FixedPort | undefined {
  const entry = nodeEntry(app, line);
  if (entry === undefined) return undefined;
  const sources = reachable(app, entry).filter(({ text }) => !isGenerated(text));
  if (sources.some(({ text }) => readsPort(text))) return undefined;
  for (const source of sources) {
    const found = listenPort(source, sources);
    if (found !== undefined) return found;
  }
  return undefined;
}

const READS_PORT = [
  /\benv\s*(\?\.|\.|\[\s*["'`])\s*PORT\b/,
  /\{[^{}]{0,1000}\bPORT\b[^{}]{0,1000}\}\s*=\s*[\w.]*\benv\b|\benv\s*:\s*\{[^{}]*\bPORT\b/,
  /\w(?<!\.set)\s*(<[^<>]*>)?\(\s*["'`]PORT["'`]/,
  /\benv\s*:\s*["'`]PORT["'`]/,
];

function readsPort(text: string): boolean {
  if (!text.includes("PORT")) return false;
  return (
    READS_PORT.some((pattern) => pattern.test(text)) ||
    (/\benv\b/.test(text) && /(^|[{,\s])["']?PORT["']?\s*:/.test(text))
  );
}

const NUMBER = "[\"']?(\\d{2,5})(?![\\d.])";
const NAME = "([A-Za-z_$][\\w$.?]*)";
/** Matches the text before a default value for the command line or the environment: `process.argv[2] ||`. */
const OTHERWISE = "[\\w$.?[\\]\"'() ]{0,40}\\b(?:env|argv)\\b[\\w$.?[\\]\"'() ]{0,40}(?:\\|\\||\\?\\?)\\s*";
const VALUE = `(?:${NUMBER}|${OTHERWISE}${NUMBER}|${NAME})`;
const LISTEN = [
  new RegExp(`\\.listen\\s*\\(\\s*${VALUE}`, "g"),
  new RegExp(`\\.listen\\s*\\(\\s*\\{[^{}]*?\\bport\\s*:\\s*${VALUE}`, "g"),
  new RegExp(
    `\\b(?:serve|createServer|Server|WebSocketServer|[Hh]api\\.server)\\s*\\(\\s*\\{[^{}]*?\\bport\\s*:\\s*${VALUE}`,
    "g",
  ),
  new RegExp(`\\blisten\\s*:\\s*\\{[^{}]*?\\bport\\s*:\\s*${VALUE}`, "g"),
  new RegExp(`\\bViteExpress\\.listen\\s*\\(\\s*\\w+\\s*,\\s*${VALUE}`, "g"),
  new RegExp(`\\.set\\s*\\(\\s*["']port["']\\s*,\\s*${VALUE}`, "g"),
  /\.listen\s*\(\s*\{[^{}]*?()()\b(port)\s*[,}]/g,
];

function listenPort(source: Source, sources: readonly Source[]): FixedPort | undefined {
  const unknown = new Set<string>();
  for (const pattern of LISTEN) {
    for (const match of source.text.matchAll(pattern)) {
      const [, literal, fallback, name] = match;
      const number = literal || fallback;
      if (number) return { port: Number(number), file: source.path, line: lineAt(source.text, match.index) };
      if (name === undefined || unknown.has(name)) continue;
      const found = constantPort(name, [source, ...sources]);
      if (found !== undefined) return found;
      unknown.add(name);
    }
  }
  return undefined;
}

/** The ports of databases, queues and mail servers, which a configuration names beside the app's own. */
const OTHERS_PORTS: ReadonlySet<number> = new Set([
  25, 465, 587, 1025, 1433, 3306, 5432, 5672, 6379, 9092, 11211, 27017,
]);

/** The number that a name such as `port` or `config.port` is given in the app's sources. */
function constantPort(name: string, sources: readonly Source[]): FixedPort | undefined {
  const last = name.slice(Math.max(name.lastIndexOf("."), name.lastIndexOf("?")) + 1);
  if (last === "") return undefined;
  const pattern = new RegExp(
    `(?<![\\w$])${escapeRegExp(last)}["']?\\s*(?::\\s*number\\s*)?[:=]\\s*(?:(?:Number|parseInt)\\(\\s*|\\+)?(?:${OTHERWISE})?${NUMBER}`,
    "g",
  );
  for (const { path, text } of sources) {
    for (const match of text.matchAll(pattern)) {
      const port = Number(match[1]);
      if (!OTHERS_PORTS.has(port)) return { port, file: path, line: lineAt(text, match.index) };
    }
  }
  return undefined;
}
