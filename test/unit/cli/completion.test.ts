import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, describe, expect, type TestContext, test } from "vitest";
import { onTerminal } from "./pseudo-terminal.ts";
import { commandLine, folderWith } from "./slipway.ts";

const runs = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;
const hasPython = runs("python3", "-c", "import pty, os; os.waitstatus_to_exitcode");

/** What is typed before the tabulator key, and the command line after it. */
const typed = [
  ["slipway depl", "slipway deploy"],
  ["slipway --he", "slipway --help"],
  ["slipway env pul", "slipway env pull"],
  ["slipway env set --env", "slipway env set --env-file"],
  ["slipway env set --env-file varia", "slipway env set --env-file variables.txt"],
  // Another command whose second word is "set" has this option.
  ["slipway settings set --env", "slipway settings set --env"],
  // `rows` is a command, and the first word of others.
  ["slipway rows cr", "slipway rows create"],
  ["slipway rows --lim", "slipway rows --limit"],
  ["slipway completion zs", "slipway completion zsh"],
  ["slipway deploy ap", "slipway deploy app"],
] as const;

describe.each(["bash", "zsh", "fish"] as const)("the completion for %s", (shell) => {
  const place = folderWith({ "app/": "", "variables.txt": "", "home/": "" });
  const script = join(place.path, "script");
  const environment = { HOME: join(place.path, "home"), TERM: "dumb" };

  afterAll(() => place[Symbol.dispose]());

  test("names each command and option", async () => {
    const { code, stdout } = await commandLine(["completion", shell]);
    expect(code).toBe(0);
    for (const word of ["deploy", "files", "upload", "env-file"]) expect(stdout).toContain(word);
  });

  test("completes what is typed in the shell", async ({ skip }) => {
    needs(skip, shell);
    writeFileSync(script, (await commandLine(["completion", shell])).stdout);
    const lines = shell === "fish" ? completedByFish() : await completedOnTerminal(shell);
    expect(lines).toEqual(typed.map(([, completed]) => completed));
  });

  function needs(skip: TestContext["skip"], name: string): void {
    if (!runs(name, "-c", "true")) skip(`${name} is not installed`);
    if (name !== "fish" && !hasPython) skip("a pseudo-terminal needs Python");
  }

  /** fish prints the candidates for a command line, each with a description. */
  function completedByFish(): string[] {
    const asked = typed.map(([line]) => `echo "== ${line}"; complete -C ${JSON.stringify(line)}`);
    const { stdout } = spawnSync(shell, ["--no-config", "-c", [`source ${script}`, ...asked].join("\n")], {
      cwd: place.path,
      env: { ...process.env, ...environment },
      encoding: "utf8",
    });
    const answers = stdout.split(/^== /m).slice(1);
    return answers.map((answer) => {
      const [line = "", ...candidates] = answer.trimEnd().split("\n");
      const [candidate, ...others] = candidates.map((text) => text.split("\t")[0]?.replace(/\/$/, ""));
      expect(others).toEqual([]);
      return candidate === undefined ? line : [...line.split(" ").slice(0, -1), candidate].join(" ");
    });
  }

  /** Types each line into the shell, with a function in the command's place that prints its words. */
  async function completedOnTerminal(name: "bash" | "zsh"): Promise<string[]> {
    const setUp = {
      bash: ["bind 'set bell-style none'"],
      zsh: ["autoload -Uz compinit", "compinit -u -D", "unsetopt beep"],
    }[name];
    const ready = ["n=0", 'slipway() { n=$((n+1)); echo "<$n>slipway $*<end>"; }', `cd ${place.path}`, `. ${script}`];
    const words = { bash: ["bash", "--norc", "--noprofile", "-i"], zsh: ["zsh", "-f", "-i"] }[name];
    const presses = typed.map(([line], index) => ({ after: `<${index}>slipway`, keys: `${line}\t\n` }));
    const { output } = await onTerminal(words, {
      columns: 200,
      environment,
      keys: [
        { after: "", keys: `${[...setUp, ...ready].join("; ")}; n=-1; slipway\n` },
        ...presses,
        { after: `<${typed.length}>slipway`, keys: "exit\n" },
      ],
    });
    const ran = stripVTControlCharacters(output).matchAll(/<([1-9]\d*)>(slipway .*?)\/?<end>/g);
    return [...ran].map(([, , line = ""]) => line);
  }
});
