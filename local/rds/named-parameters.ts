/** Matches text in which a colon is no parameter (strings, quoted names, dollar quotes, comments, casts, words) or `:name`. */
const token =
  /[eE]'(?:[^'\\]|\\[\s\S]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$([A-Za-z_]\w*)?\$[\s\S]*?\$\1\$|--[^\n]*|\/\*[\s\S]*?\*\/|::|[A-Za-z_][\w$]*|:([A-Za-z_]\w*|\d+)/g;

export interface Positional {
  sql: string;
  /** The parameter names of $1, $2, …; a name that is used twice has one number. */
  names: string[];
}

/** Turns the Data API's `:name` parameters into PostgreSQL's `$n`. */
export function positional(statement: string): Positional {
  const numbers = new Map<string, number>();
  const sql = statement.replace(token, (match, _tag: string | undefined, name: string | undefined) => {
    if (name === undefined) return match;
    const number = numbers.get(name) ?? numbers.size + 1;
    numbers.set(name, number);
    return `$${number}`;
  });
  return { sql, names: [...numbers.keys()] };
}
