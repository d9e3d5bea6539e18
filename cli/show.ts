import type { Arguments, Context } from "./command.ts";
import { columnsText } from "./terminal.ts";

type AsJson = Pick<Arguments<"json">, "flag">;
type OnTerminal = Pick<Context, "terminal">;

/** Prints a reply as one JSON object, or its rows as columns; the exit code is 0. */
export function showRows(
  args: AsJson,
  { terminal }: OnTerminal,
  reply: object,
  rows: readonly (readonly string[])[],
): number {
  if (args.flag("json")) terminal.result(JSON.stringify(reply));
  else for (const line of columnsText(rows)) terminal.result(line);
  return 0;
}

/** Prints a reply as one JSON object, or says in a sentence what was done; `result` goes to stdout. The exit code is 0. */
export function showDone(
  args: AsJson,
  { terminal }: OnTerminal,
  reply: object,
  sentence: string,
  result?: string,
): number {
  if (args.flag("json")) terminal.result(JSON.stringify(reply));
  else {
    terminal.note(sentence);
    if (result !== undefined) terminal.result(result);
  }
  return 0;
}
