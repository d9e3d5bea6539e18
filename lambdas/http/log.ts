import type middy from "@middy/core";

/** One line of JSON per event on stdout, for Lambda's log group and the local log. Never a secret, an address or a value. */
export function log(level: "info" | "error", message: string, fields: Record<string, unknown> = {}): void {
  process.stdout.write(`${JSON.stringify({ level, message, ...fields })}\n`);
}

/** Errors of parsing quote the text, and an answer of AWS can hold credentials or rows. The SDK keeps such an answer in `$responseBodyText`. */
function quotesItsInput(error: Error): boolean {
  return error instanceof SyntaxError || "$responseBodyText" in error;
}

/** What a log may say of an error: its name, its message and where it came from. */
export function errorFields(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: String(error) };
  return {
    error: error.name,
    detail: quotesItsInput(error) ? "A text could not be parsed." : error.message,
    stack: error.stack
      ?.split("\n")
      .slice(1, 6)
      .map((line) => line.trim()),
  };
}

export interface LogEntry {
  message: string;
  fields: Record<string, unknown>;
}

/** Logs an error as `describe` returns it; logs nothing if that is undefined. */
export function logErrors<Event>(
  describe: (error: unknown, event: Event) => LogEntry | undefined,
): middy.MiddlewareObj<Event> {
  return {
    onError: ({ error, event }) => {
      const entry = describe(error, event);
      if (entry) log("error", entry.message, entry.fields);
    },
  };
}
