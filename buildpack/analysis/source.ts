/** A source file, its text without comments. */
export interface Source {
  path: string;
  text: string;
}

/** A JavaScript or TypeScript text with comments blanked out; offsets and lines stay the same. */
function blankScriptComments(text: string): string {
  if (!/\/[/*]|<!--/.test(text)) return text;
  let out = "";
  let at = 0;
  let before = "\n";
  const blank = (end: number) => {
    out += text.slice(at, end).replace(/[^\n]/g, " ");
    at = end;
  };
  while (at < text.length) {
    const char = text[at] ?? "";
    if (char === "/" && text[at + 1] === "/") blank(endOr(text.indexOf("\n", at), text.length));
    else if (char === "/" && text[at + 1] === "*") blank(endOr(text.indexOf("*/", at + 2), text.length - 2) + 2);
    else if (char === "<" && text.startsWith("<!--", at)) blank(endOr(text.indexOf("-->", at), text.length - 3) + 3);
    else {
      const end = literalEnd(text, at, before);
      out += text.slice(at, end);
      at = end;
      if (/\S/.test(char)) before = char;
    }
  }
  return out;
}

const endOr = (index: number, end: number): number => (index === -1 ? end : index);

/** The end of the string, template or regular expression that starts at `at`, else the next offset. */
function literalEnd(text: string, at: number, before: string): number {
  const char = text[at] ?? "";
  const regular = char === "/" && /[(,=:[!&|?{};\n+]/.test(before);
  if (char !== "'" && char !== '"' && char !== "`" && !regular) return at + 1;
  let inClass = false;
  for (let index = at + 1; index < text.length; index += 1) {
    const next = text[index];
    if (next === "\\") index += 1;
    else if (next === "\n" && char !== "`") return regular ? at + 1 : index;
    else if (regular && next === "[") inClass = true;
    else if (regular && next === "]") inClass = false;
    else if (next === char && !inClass) return index + 1;
  }
  return char === "`" ? text.length : at + 1;
}

/** A Python text with comments and docstrings blanked out; offsets and lines stay the same. */
export function blankPythonComments(text: string): string {
  const pattern =
    /(?:^|(?<=[\n;]))[ \t]*[rRuU]?("""|''')[\s\S]*?(?:\1|$(?![\s\S]))|("""|''')[\s\S]*?(?:\2|$(?![\s\S]))|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|#[^\n]*/g;
  return text.replace(pattern, (found: string, docstring: string | undefined) =>
    docstring !== undefined || found.startsWith("#") ? found.replace(/[^\n]/g, " ") : found,
  );
}

/** A source text without comments; the file's extension selects the syntax. */
export const withoutComments = (path: string, text: string): string =>
  path.endsWith(".py") ? blankPythonComments(text) : blankScriptComments(text);

/** True for bundled or minified code, recognized by its very long lines. */
export const isGenerated = (text: string): boolean =>
  text.length > 5000 && text.length / (text.split("\n").length + 1) > 500;
