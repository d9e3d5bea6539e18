import { commandsOf, folderOf, invocationOf, wordsOf } from "../command.ts";
import { stringAt, type Table } from "../values.ts";

/** A start command with package.json scripts resolved: the commands that run before it, and the app's own command line. */
export interface ResolvedCommand {
  before: string[];
  line: string;
}

/** Resolves `npm start`, `yarn serve`, `pnpm run x` and the like to the script's command, so that the app receives signals directly and not through a package manager. */
export function resolveCommand(
  line: string,
  manifest: Table | undefined,
  dependencies: ReadonlySet<string>,
  seen: readonly string[] = [],
): ResolvedCommand {
  const commands = commandsOf(line);
  const last = commands.at(-1);
  const unresolved = { before: [], line };
  if (last === undefined || last.before === "|" || last.text === "" || seen.length > 10) return unresolved;
  const { assignments, words } = invocationOf(last.text);
  if (folderOf(line) !== "" || words.some((word) => ELSEWHERE.test(word))) return unresolved;
  const head = line.slice(0, line.lastIndexOf(last.text));
  const call = scriptCall(words, manifest);
  if (call === undefined) {
    const direct = directBinary(words, last.text, dependencies);
    return direct === undefined ? unresolved : { before: [], line: `${head}${joined(assignments, direct)}` };
  }
  const script = stringAt(manifest, "scripts", call.script);
  if (script === undefined || seen.includes(call.script)) return unresolved;
  const inner = resolveCommand(call.rest === "" ? script : `${script} ${call.rest}`, manifest, dependencies, [
    ...seen,
    call.script,
  ]);
  const pre = call.hooks ? stringAt(manifest, "scripts", `pre${call.script}`) : undefined;
  return {
    before: [...(pre === undefined ? [] : [pre]), ...inner.before],
    line: `${head}${joined(assignments, inner.line)}`,
  };
}

/** Adds assignments to a line: before its only command, or exported for several commands. */
function joined(assignments: readonly string[], line: string): string {
  if (assignments.length === 0) return line;
  return commandsOf(line).length === 1
    ? `${assignments.join(" ")} ${line}`
    : `export ${assignments.join(" ")}; ${line}`;
}

/** Options of package managers that select a different package. */
const ELSEWHERE = /^(-w|--workspaces?|--prefix|-C|--cwd|--dir|--filter|-F)(=|$)/;

const QUIET = /^(--silent|-s|--quiet|-q|--no-color|--production|--prod|--if-present|--bun)$/;

function scriptCall(
  words: readonly string[],
  manifest: Table | undefined,
): { script: string; rest: string; hooks: boolean } | undefined {
  const [program = "", ...others] = words;
  if (program === "node" && others[0] === "--run" && others[1] !== undefined) {
    return { script: others[1], rest: quotedWords(others.slice(2).filter((word) => word !== "--")), hooks: false };
  }
  if (!/^(npm|yarn|yarnpkg|pnpm|bun)$/.test(program)) return undefined;
  const args = others.filter(
    (word, index) =>
      !(
        QUIET.test(word) &&
        others.slice(0, index).every((earlier) => QUIET.test(earlier) || /^run(-script)?$/.test(earlier))
      ),
  );
  const explicit = /^(run|run-script|rum)$/.test(args[0] ?? "");
  const script = explicit ? args[1] : args[0];
  if (script === undefined || script.startsWith("-")) return undefined;
  if (!explicit && program === "npm" && !/^(start|stop|test|restart)$/.test(script)) return undefined;
  if (stringAt(manifest, "scripts", script) === undefined) return undefined;
  const rest = args.slice(explicit ? 2 : 1);
  const passed =
    rest[0] === "--" ? rest.slice(1) : program === "npm" ? rest.filter((word) => !word.startsWith("-")) : rest;
  return { script, rest: quotedWords(passed), hooks: true };
}

/** `npx next start`, `yarn node server.js`, `pnpm exec x`: the program itself, when the app has it. */
function directBinary(words: readonly string[], text: string, dependencies: ReadonlySet<string>): string | undefined {
  const prefix =
    /^(npx(\s+(--no-install|--yes|-y|--no))*|yarn(\s+(run|exec))?|pnpm(\s+exec)?|bunx|bun\s+x|npm\s+exec(\s+--)?)\s+(?=[\w@.])/.exec(
      text.replace(/^([A-Za-z_]\w*=\S*\s+)*(cross-env\s+([A-Za-z_]\w*=\S*\s+)+)?/, ""),
    );
  if (prefix === null) return undefined;
  const [manager = ""] = words;
  const direct = text.slice(text.indexOf(prefix[0]) + prefix[0].length);
  const [binary = ""] = wordsOf(direct);
  if (binary === "node" && manager !== "npx") return direct;
  // The command of the package in `npx @scope/name` has a different name.
  if (binary.startsWith("@")) return undefined;
  return dependencies.has(binary) || providers(binary).some((name) => dependencies.has(name)) ? direct : undefined;
}

/** Packages whose command name differs from the package name. */
function providers(binary: string): string[] {
  const known: Record<string, string[]> = {
    nest: ["@nestjs/cli"],
    ng: ["@angular/cli"],
    "remix-serve": ["@remix-run/serve"],
    "react-router-serve": ["@react-router/serve"],
    strapi: ["@strapi/strapi"],
    tsc: ["typescript"],
    nuxi: ["nuxi", "nuxt"],
    medusa: ["@medusajs/cli"],
    "vue-cli-service": ["@vue/cli-service"],
    sls: ["serverless"],
    "babel-node": ["@babel/node"],
  };
  return Object.hasOwn(known, binary) ? (known[binary] ?? []) : [];
}

const quotedWords = (words: readonly string[]): string =>
  words.map((word) => (/^[\w@%+=:,./$-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
