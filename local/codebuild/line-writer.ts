/** Splits output into lines; an unfinished line is kept until its end arrives. */
export function lineWriter(put: (line: string) => void): (chunk: Buffer) => void {
  const rest = { text: "" };
  return (chunk) => {
    const lines = (rest.text + chunk.toString("utf8")).split(/\r?\n|\r/);
    rest.text = lines.pop() ?? "";
    for (const line of lines) put(line);
  };
}
