import type { App } from "../app.ts";
import { escapeRegExp, lineAt } from "../diagnostics.ts";
import { isGenerated, type Source } from "../source.ts";
import { LOOPBACK, type Loopback, namedLoopback } from "../suggestions/loopback.ts";
import { nodeEntry, reachable } from "./sources.ts";

const ADDRESS = `["'\`]${LOOPBACK}["'\`]`;
const FIRST = "(?:[^(){};,]|\\([^()]{0,200}\\)){1,200}";
const OPTIONS = "\\(\\s*\\{[^{}]{0,500}?";
const NAME = "([A-Za-z_$][\\w$]*)";

/** Calls that name the loopback address, or the variable that holds the address. */
const NAMED = [
  new RegExp(`\\.listen\\s*\\(${FIRST},\\s*(?:${ADDRESS}|${NAME}(?=\\s*[,)]))`, "g"),
  new RegExp(
    `\\b(?:listen|[sS]erve|Server|createServer|server)\\s*${OPTIONS}\\bhost(?:name)?\\s*:\\s*(?:${ADDRESS}|${NAME}(?=\\s*[,}]))`,
    "g",
  ),
  new RegExp(`\\b(?:listen|[sS]erve)\\s*${OPTIONS}\\b(host(?:name)?)(?=\\s*[,}])`, "g"),
];

/** The place where an app that starts its own server listens on the loopback address. */
export function nodeLoopback(app: App, line: string): Loopback | undefined {
  const entry = nodeEntry(app, line);
  if (entry === undefined) return undefined;
  const sources = reachable(app, entry).filter(({ text }) => !isGenerated(text));
  for (const source of sources) {
    const found = namedLoopback(source, NAMED, (name) => isLoopback(name, sources));
    if (found !== undefined) return found;
  }
  return fastify(sources);
}

function isLoopback(name: string, sources: readonly Source[]): boolean {
  const assignment = new RegExp(`(?<![\\w$.])${escapeRegExp(name)}\\s*(?::\\s*string\\s*)?=\\s*${ADDRESS}`);
  return sources.some(({ text }) => assignment.test(text));
}

const OTHER_SERVERS = /["'](?:express|koa|@hapi\/hapi|(?:node:)?https?)["']/;

function fastify(sources: readonly Source[]): Loopback | undefined {
  if (!sources.some(({ text }) => /["'](?:fastify|@nestjs\/platform-fastify)["']/.test(text))) return undefined;
  for (const { path, text } of sources) {
    if (OTHER_SERVERS.test(text)) continue;
    for (const { 0: found, index } of text.matchAll(/\.listen\s*\(/g)) {
      if (namesNoHost(argumentsAt(text, index + found.length))) return { file: path, line: lineAt(text, index) };
    }
  }
  return undefined;
}

/** The arguments of a call; `from` is the offset after its opening parenthesis. Very long ones are cut off. */
function argumentsAt(text: string, from: number): string[] {
  const found: string[] = [];
  let start = from;
  let depth = 0;
  for (let at = from; at < Math.min(text.length, from + argumentsLengthMax); at += 1) {
    const char = text[at] ?? "";
    if (/[([{]/.test(char)) depth += 1;
    else if (/[)\]}]/.test(char)) depth -= 1;
    if (depth < 0 || (depth === 0 && char === ",")) {
      found.push(text.slice(start, at).trim());
      start = at + 1;
    }
    if (depth < 0) break;
  }
  return found;
}

const argumentsLengthMax = 1000;

/** True if Fastify gets a port but no host: it then listens on the loopback address. */
function namesNoHost([first = "", second = ""]: readonly string[]): boolean {
  if (first.startsWith("{")) return !/\b(?:host|path)\b|\.\.\./.test(first);
  const isPort = /port|^\d+$/i.test(first);
  return (
    isPort && (second === "" || /^(?:async\b|function\b|\(|\w+\s*=>|(?:err|error|done|callback|cb)$)/.test(second))
  );
}
