/** A variable of a .env file, and the line where it begins, from 1. */
export interface EnvLine {
  name: string;
  value: string;
  line: number;
}

export interface EnvFile {
  variables: EnvLine[];
  /** Lines that hold neither a variable nor a comment. */
  ignoredLines: number[];
}

/** A value in quotes up to the closing one, which may be on a later line; the rest of that line is not read. */
function quotedValue(text: string): { value: string; length: number } | undefined {
  const quote = text.charAt(0);
  if (quote === "" || !"\"'`".includes(quote)) return undefined;
  const end = text.indexOf(quote, 1);
  if (end === -1) return undefined;
  const inner = text.slice(1, end);
  const rest = text.indexOf("\n", end);
  return {
    value: quote === '"' ? inner.replaceAll("\\n", "\n") : inner,
    length: rest === -1 ? text.length : rest,
  };
}

/** The value at the beginning of a text, and how much of the text belongs to it. */
function leadingValue(text: string): { value: string; length: number } {
  const spaces = /^[ \t]*/.exec(text)?.[0].length ?? 0;
  const quoted = quotedValue(text.slice(spaces));
  if (quoted) return { value: quoted.value, length: spaces + quoted.length };
  const line = text.slice(0, /\n|$/.exec(text)?.index);
  const value = line.slice(spaces);
  // An opening quote without a closing one is a part of the value, with what looks like a comment.
  const isOpen = /^["'`]/.test(value);
  return { value: isOpen ? value : value.replace(/#.*/, "").trim(), length: line.length };
}

/**
 * Reads a .env file as Node.js does (`parseEnv` of node:util), with one difference: an empty value with spaces is
 * empty, where Node.js 24 takes the next line for it. The last of several variables of one name counts.
 */
export function parseEnvFile(content: string): EnvFile {
  const variables = new Map<string, EnvLine>();
  const ignoredLines: number[] = [];
  let rest = content
    .replaceAll("\r", "")
    .replace(/^\ufeff/, "")
    .trimEnd();
  let line = 1;
  const skip = (length: number) => {
    line += rest.slice(0, length + 1).split("\n").length - 1;
    rest = rest.slice(length + 1);
  };
  while (rest !== "") {
    const end = /\n|$/.exec(rest)?.index ?? rest.length;
    const text = rest.slice(0, end);
    const equals = text.indexOf("=");
    const name = text
      .slice(0, Math.max(equals, 0))
      .trim()
      .replace(/^export /, "")
      .trim();
    if (text.trim() === "" || text.trim().startsWith("#")) skip(end);
    else if (name === "") {
      ignoredLines.push(line);
      skip(end);
    } else {
      const { value, length } = leadingValue(rest.slice(equals + 1));
      variables.delete(name);
      variables.set(name, { name, value, line });
      skip(equals + 1 + length);
    }
  }
  return { variables: [...variables.values()], ignoredLines };
}
