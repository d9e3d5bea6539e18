import type { App } from "../app.ts";
import { commandsOf, folderOf, invocationOf } from "../command.ts";
import { listed, NoPlan, quoted } from "../diagnostics.ts";
import { missingFileRemedy, missingProgram } from "../start-program.ts";
import { entriesAt, type Table } from "../values.ts";

const PROGRAMS = /^(?:node|nodejs|nodemon|tsx|ts-node|bun)$/;
/** Options whose value is a word of its own. */
const VALUED =
  /^(?:-r|--require|--import|--loader|--experimental-loader|-C|--conditions|--env-file|--env-file-if-exists|--project|-P|--tsconfig|--title)$/;
const ENDINGS = ["", ".js", ".cjs", ".mjs", ".json", ".node", ".ts", ".mts", ".cts", ".tsx", ".jsx"];
const INSTALL_SCRIPTS = ["preinstall", "install", "postinstall", "prepublish", "prepare"];

/** Throws if a start command's file is not in the archive and no build or install script could create it. */
export function refuseMissingFile(
  app: App,
  manifest: Table | undefined,
  start: { line: string; before: readonly string[]; file: string },
  build: string | null,
): void {
  const scripts = entriesAt(manifest, "scripts");
  if (build !== null || start.before.length > 0 || scripts.some(([name]) => INSTALL_SCRIPTS.includes(name))) return;
  const program = missingProgram(app, start.line);
  if (program !== undefined) {
    throw new NoPlan(
      "no_start_command",
      `The start command ${quoted(start.line)} in ${app.shown(start.file)} runs ${app.shown(program)}, which is not in the archive. ${missingFileRemedy(program)}`,
      app.shown(program),
    );
  }
  const path = startFile(start.line);
  if (path === undefined || exists(app, path)) return;
  const builds = scripts.filter(([name, script]) => name !== "start" && isBuild(name, script)).map(([name]) => name);
  const seen =
    builds.length === 0
      ? "package.json has no build script"
      : `no script is called "build" (${listed(builds)} ${builds.length === 1 ? "is" : "are"} never run)`;
  throw new NoPlan(
    "no_start_command",
    `The start command ${quoted(start.line)} in ${app.shown(start.file)} runs ${app.shown(path)}, which is not in the archive, and ${seen}. Add the file to the archive, or a script "build" that makes it.`,
    app.shown(path),
  );
}

const isBuild = (name: string, script: unknown): boolean =>
  /build|compile|bundle|transpile/i.test(name) ||
  (typeof script === "string" && /\b(?:tsc|webpack|esbuild|rollup|babel|swc|tsup|ncc|parcel)\b/.test(script));

/** The path, relative to the app's root, of the file that a start command runs; undefined if unknown. */
function startFile(line: string): string | undefined {
  const commands = commandsOf(line);
  if (commands.slice(0, -1).some(({ text }) => !/^(?:cd|export|set)\s/.test(text))) return undefined;
  const { program, words } = invocationOf(commands.at(-1)?.text ?? "");
  const folder = folderOf(line);
  if (folder === undefined || !PROGRAMS.test(program)) return undefined;
  for (let index = 1; index < words.length; index += 1) {
    const word = words[index] ?? "";
    if (VALUED.test(word)) index += 1;
    else if (/^(?:-e|--eval|-p|--print|-x|--exec|-c|--check|--test|--run|--build)\b/.test(word)) return undefined;
    else if (!word.startsWith("-")) return pathOf(program, folder, word);
  }
  return undefined;
}

function pathOf(program: string, folder: string, word: string): string | undefined {
  const isFile = /\.[cm]?[jt]sx?$/.test(word);
  // Other programs also accept script and command names here.
  if (!isFile && program !== "node" && program !== "nodejs") return undefined;
  const path = word.replace(/^(?:\.\/+)+/, "").replace(/\/+$/, "");
  if (!/^[\w@][\w@.-]*(?:\/[\w@.-]+)*$/.test(path) || /(?:^|\/)(?:\.\.?|node_modules)(?:\/|$)/.test(path))
    return undefined;
  return folder === "" ? path : `${folder}/${path}`;
}

function exists(app: App, path: string): boolean {
  if (ENDINGS.some((ending) => app.has(path + ending) || app.has(`${path}/index${ending}`))) return true;
  return app.has(`${path}/package.json`);
}
