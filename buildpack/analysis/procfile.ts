import type { App } from "./app.ts";
import { lineOf } from "./diagnostics.ts";

/** A process of a Procfile and the line that declares it. */
export interface ProcfileEntry {
  command: string;
  line: number;
}

/** The `web:` (or another) process of the root's Procfile. */
export function procfileEntry(app: App, name: "web" | "release"): ProcfileEntry | undefined {
  const text = app.text("Procfile");
  const pattern = new RegExp(`^[ \\t]*${name}[ \\t]*:[ \\t]*(\\S.*)$`, "m");
  const command = pattern.exec(text ?? "")?.[1]?.trim();
  return command === undefined ? undefined : { command, line: lineOf(text, pattern) };
}
