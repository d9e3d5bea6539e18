import type { App } from "../app.ts";
import { commandsOf, folderOf, invocationOf } from "../command.ts";
import { optionalToml } from "../manifests.ts";
import { blankPythonComments, type Source } from "../source.ts";
import { stringAt } from "../values.ts";

/** The source file that `python main.py`, `python -m shop` or a script of pyproject.toml runs, undefined for servers. */
export function pythonEntry(app: App, line: string): string | undefined {
  const { program, words } = invocationOf(commandsOf(line).at(-1)?.text ?? "");
  const folder = folderOf(line);
  if (folder === undefined) return undefined;
  const prefix = folder === "" ? "" : `${folder}/`;
  const isPython = /^python[\d.]*$/.test(program.slice(program.lastIndexOf("/") + 1));
  const module = isPython && words.includes("-m") ? words[words.indexOf("-m") + 1] : scriptModule(app, program, words);
  if (module !== undefined) {
    const path = module.replaceAll(".", "/");
    return [`${path}.py`, `${path}/__main__.py`, `${path}/__init__.py`]
      .flatMap((name) => [prefix + name, `src/${name}`])
      .find((name) => app.has(name));
  }
  if (!isPython) return undefined;
  return words
    .slice(1)
    .filter((word) => !word.startsWith("-"))
    .map((word) => prefix + word.replace(/^\.\//, ""))
    .find((path) => app.has(path));
}

/** The module of a script that pyproject.toml declares, whether it is called by its name or imported by `python -c`. */
function scriptModule(app: App, program: string, words: readonly string[]): string | undefined {
  if (words[1] === "-c") return /\bfrom ([\w.]+) import\b/.exec(words[2] ?? "")?.[1];
  const pyproject = optionalToml(app, "pyproject.toml");
  const target =
    stringAt(pyproject, "project", "scripts", program) ?? stringAt(pyproject, "tool", "poetry", "scripts", program);
  return target?.split(":")[0];
}

/** The entry and the app's modules that it imports, directly or not; their `if __name__ == "__main__"` parts are removed. */
export function reachable(app: App, entry: string): Source[] {
  const folderOfFile = (path: string) => path.slice(0, path.lastIndexOf("/") + 1);
  const seen = new Set([entry]);
  const sources: Source[] = [];
  for (const path of seen) {
    if (sources.length >= 100) break;
    const text = blankPythonComments(app.text(path) ?? "");
    sources.push({ path, text: path === entry ? text : text.replace(/^if\s+__name__\s*==[\s\S]*/m, "") });
    for (const [, dot, name = ""] of text.matchAll(/^[ \t]*(?:from|import)\s+(\.)?([\w.]+)/gm)) {
      const folders = dot === undefined ? [folderOfFile(entry), ""] : [folderOfFile(path)];
      const file = folders
        .map((folder) => folder + name.replaceAll(".", "/"))
        .flatMap((module) => [`${module}.py`, `${module}/__init__.py`])
        .find((candidate) => app.has(candidate));
      if (file !== undefined) seen.add(file);
    }
  }
  return sources;
}
