import type { App } from "../app.ts";
import { commandsOf, folderOf, invocationOf } from "../command.ts";
import { packageJson } from "../manifests.ts";
import { type Source, withoutComments } from "../source.ts";
import { stringAt } from "../values.ts";

const sourcesMax = 300;
const ENDINGS = [
  "",
  ".js",
  ".ts",
  ".mjs",
  ".cjs",
  ".mts",
  ".cts",
  ".tsx",
  ".jsx",
  "/index.js",
  "/index.ts",
  "/index.mjs",
];

/** The source file that a Node.js start command runs; build output is traced back to its source. */
export function nodeEntry(app: App, line: string): string | undefined {
  const { program, words } = invocationOf(commandsOf(line).at(-1)?.text ?? "");
  const folder = folderOf(line);
  if (folder === undefined) return undefined;
  if (program === "nest") return ["src/main.ts"].find((path) => app.has(path));
  const args = program.includes("/") || /\.[cm]?[jt]s$/.test(program) ? words : words.slice(1);
  for (const [index, word] of args.entries()) {
    if (word.startsWith("-") || PRELOADS.test(args[index - 1] ?? "")) continue;
    const path = word.replace(/^(\.?\/)+|\/+$/g, "");
    const isFolder = path === "." || path === "";
    const found =
      isFolder && folder === "" ? mainFile(app) : fileOf(app, [folder, isFolder ? "" : path].filter(Boolean).join("/"));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Options whose value is a file that runs before the app. */
const PRELOADS = /^(-r|--require|--import|--loader|--experimental-loader)$/;

const fileOf = (app: App, path: string): string | undefined => resolveFile(app, path) ?? sourceOfBuilt(app, path);

/** What `node .` runs: package.json's main, else index.js. */
const mainFile = (app: App): string | undefined =>
  fileOf(app, stringAt(packageJson(app), "main")?.replace(/^(\.?\/)+|\/+$/g, "") ?? "index.js");

function resolveFile(app: App, path: string): string | undefined {
  const names = ENDINGS.map((ending) => path + ending);
  if (/\.[cm]?jsx?$/.test(path)) names.push(path.replace(/\.([cm]?)js(x?)$/, ".$1ts$2"));
  return names.find((name) => app.has(name) && /\.[cm]?[jt]sx?$/.test(name));
}

function sourceOfBuilt(app: App, path: string): string | undefined {
  const [, folder = "", inner] = /^(.*?\/)?(?:dist|build|lib|out)\/(.+)$/.exec(path) ?? [];
  if (inner === undefined) return undefined;
  const bare = inner.replace(/^src\//, "");
  return [`${folder}src/${bare}`, folder + bare, folder + inner]
    .map((name) => resolveFile(app, name))
    .find((found) => found !== undefined);
}

const IMPORT = /(?:\bfrom\s*|\brequire\s*\(\s*|\bimport\s*\(\s*|\bimport\s+)["'](\.{1,2}\/[^"'\n]*|\.{1,2})["']/g;

/** The entry and the app's own files that it imports, nearest first. */
export function reachable(app: App, entry: string): Source[] {
  const sources: Source[] = [];
  const seen = new Set([entry]);
  for (const path of seen) {
    if (sources.length >= sourcesMax) break;
    const text = withoutComments(path, app.text(path) ?? "");
    sources.push({ path, text });
    for (const [, specifier = ""] of text.matchAll(IMPORT)) {
      const target = resolveFile(app, joinPath(path, specifier));
      if (target !== undefined) seen.add(target);
    }
  }
  return sources;
}

function joinPath(from: string, specifier: string): string {
  const names = from.split("/").slice(0, -1);
  for (const name of specifier.split("/")) {
    if (name === "..") names.pop();
    else if (name !== "." && name !== "") names.push(name);
  }
  return names.join("/");
}
