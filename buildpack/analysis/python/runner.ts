import type { App } from "../app.ts";
import { commandsOf, invocationOf } from "../command.ts";
import { optionalToml } from "../manifests.ts";
import { stringAt, type Table } from "../values.ts";

const RUNNER =
  /^(?:uv|poetry|pipenv|pdm)\s+run\s+((?:(?:--no-dev|--no-sync|--frozen|--locked|--quiet|-q|--)\s+)*)(?=[\w./-])/;

/** A start command without `uv run`, `poetry run` and the like: the environment is already active, and the app must receive signals directly. */
export function withoutRunner(app: App, line: string, pyproject: Table | undefined): string {
  const last = commandsOf(line).at(-1)?.text ?? "";
  const { rest, words } = invocationOf(last);
  const runner = RUNNER.exec(rest);
  const at = line.lastIndexOf(rest);
  if (runner === null || at === -1) return line;
  const [program = "", , name = ""] = words;
  const command = rest.slice(runner[0].length);
  if (command.startsWith("-") && !/^-m\s/.test(command)) return line;
  const script =
    program === "pipenv"
      ? stringAt(optionalToml(app, "Pipfile"), "scripts", name)
      : program === "pdm"
        ? pdmScript(pyproject, name)
        : undefined;
  const direct = script === undefined ? command : `${script}${rest.slice(rest.indexOf(name) + name.length)}`;
  return line.slice(0, at) + (/^(-m\s|[\w./-]+\.py\b)/.test(direct) ? `python ${direct}` : direct);
}

const pdmScript = (pyproject: Table | undefined, name: string): string | undefined =>
  stringAt(pyproject, "tool", "pdm", "scripts", name) ??
  stringAt(pyproject, "tool", "pdm", "scripts", name, "cmd") ??
  stringAt(pyproject, "tool", "pdm", "scripts", name, "shell");
