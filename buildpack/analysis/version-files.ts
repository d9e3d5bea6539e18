/** A tool's first version in asdf's `.tool-versions`, with its line; undefined when the tool is not named. */
export function toolVersion(
  text: string | undefined,
  names: readonly string[],
): { value: string; line: number } | undefined {
  const lines = (text ?? "").split("\n");
  for (const [index, line] of lines.entries()) {
    const [name = "", value = ""] = line.replace(/#.*$/, "").trim().split(/\s+/);
    if (names.includes(name)) return { value, line: index + 1 };
  }
  return undefined;
}
