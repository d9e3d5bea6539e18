import { type Diagnostics, NoPlan, noDiagnostics } from "./diagnostics.ts";

/** The command that a setting gives, or the detected one; an empty setting skips the step. */
export function setCommand(setting: string | null, detected: string | null): string | null {
  if (setting === null) return detected;
  return setting.trim() === "" ? null : setting;
}

/** Diagnostics that are dropped if a setting replaces their subject. */
export const quietIf = (setting: string | null, diagnostics: Diagnostics): Diagnostics =>
  setting === null ? diagnostics : noDiagnostics();

/** The result of a detection, or undefined if it finds nothing. */
export function planOrNothing<T>(detect: () => T): T | undefined {
  try {
    return detect();
  } catch (error) {
    if (error instanceof NoPlan) return undefined;
    throw error;
  }
}
