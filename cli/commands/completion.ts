import { command } from "../command.ts";
import { completionScripts, type Shell } from "../completion-scripts.ts";
import { UsageError } from "../failure.ts";

const isShell = (name: string): name is Shell => Object.hasOwn(completionScripts, name);

/** `slipway completion <shell>`: made from the table of commands. */
export const completion = command({
  operands: { shown: "bash|zsh|fish", min: 1, max: 1 },
  options: {},
  run: async (args, { terminal, commands }) => {
    const [shell = ""] = args.operands;
    if (!isShell(shell)) throw new UsageError(`The shell must be one of ${Object.keys(completionScripts).join(", ")}.`);
    const entries = await Promise.all(
      commands.map(async ({ name, summary, load }) => ({ name, summary, options: (await load()).options })),
    );
    terminal.result(completionScripts[shell](entries));
    return 0;
  },
});
