/**
 * The project's variables on their way to the image build: `NAME=value` and a NUL each. Names hold no `=` and values no
 * NUL (CONTRACT §4), so every byte arrives as it was.
 */
export function encodeVariables(variables: readonly { name: string; value: string }[]): string {
  return variables.map(({ name, value }) => `${name}=${value}\0`).join("");
}

/** The reverse of `encodeVariables`. */
export function parseVariables(text: string): Record<string, string> {
  const entries = text
    .split("\0")
    .slice(0, -1)
    .map((entry) => {
      const equals = entry.indexOf("=");
      return [entry.slice(0, equals), entry.slice(equals + 1)] as const;
    });
  return Object.fromEntries(entries);
}
