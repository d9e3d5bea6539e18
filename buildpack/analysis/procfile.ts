import type { App } from "./app.ts";
import { commandLengthMax, tooLong } from "./command.ts";

/** A process of a Procfile and the line that declares it. */
export interface ProcfileEntry {
  command: string;
  line: number;
}

/** The `web:` (or another) process of the root's Procfile; throws `NoPlan` (broken_manifest) if its line is too long. */
export function procfileEntry(app: App, name: "web" | "release"): ProcfileEntry | undefined {
  const pattern = new RegExp(`^[ \\t]*${name}[ \\t]*:(.*)$`);
  for (const [index, line] of (app.text("Procfile") ?? "").split("\n").entries()) {
    const command = pattern.exec(line.length > commandLengthMax ? line.slice(0, commandLengthMax) : line)?.[1]?.trim();
    if (command === undefined || command === "") continue;
    if (line.length > commandLengthMax)
      throw tooLong(`The ${name} line of ${app.shown("Procfile")} (line ${index + 1})`, line);
    return { command, line: index + 1 };
  }
  return undefined;
}
