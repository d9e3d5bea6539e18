import { type CommandEntry, command } from "../command.ts";
import { bash } from "../completion/bash.ts";
import type { Completed } from "../completion/completed.ts";
import { fish } from "../completion/fish.ts";
import { zsh } from "../completion/zsh.ts";
import { UsageError } from "../failure.ts";

const scripts = { bash, zsh, fish } as const;
const isShell = (name: string): name is keyof typeof scripts => Object.hasOwn(scripts, name);

const isChoice = /^[a-z]+(\|[a-z]+)+$/;
const namesFiles = /\b(folder|zip|path|file)\b(?!-)/;
const help = { name: "help", describe: "shows what the command does", value: undefined };

async function completed({ name, summary, load }: CommandEntry): Promise<Completed> {
  const { options, operands } = await load();
  return {
    name,
    summary,
    choices: isChoice.test(operands) ? operands.split("|") : [],
    takesFiles: namesFiles.test(operands),
    options: [...options.map((option) => ({ ...option, value: kindOf(option.value) })), help],
  };
}

function kindOf(value: string | undefined): "file" | "text" | undefined {
  if (value === undefined) return undefined;
  return value === "file" ? "file" : "text";
}

/** `slipway completion <shell>`: made from the table of commands. */
export const completion = command({
  details:
    "For the shell that is open: bash and zsh read it with  source <(slipway completion bash), fish with\n" +
    "slipway completion fish | source. Put that line into ~/.bashrc, ~/.zshrc (after compinit) or config.fish to keep it.",
  operands: { shown: "bash|zsh|fish", min: 1, max: 1 },
  options: {},
  run: async (args, { terminal, commands }) => {
    const [shell = ""] = args.operands;
    if (!isShell(shell)) throw new UsageError(`The shell must be one of ${Object.keys(scripts).join(", ")}.`);
    terminal.result(scripts[shell](await Promise.all(commands.map(completed))));
    return 0;
  },
});
