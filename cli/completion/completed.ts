/** What can be completed after a command. */
export interface Completed {
  /** One word or two. */
  name: string;
  summary: string;
  /** The words that an operand may be. */
  choices: readonly string[];
  takesFiles: boolean;
  options: readonly CompletedOption[];
}

export interface CompletedOption {
  name: string;
  describe: string;
  /** What follows the option; undefined if nothing does. */
  value: "file" | "text" | undefined;
}

/** One word of the command line with what it is for. */
interface Word {
  word: string;
  summary: string;
}

/** The first words of all commands. A group of commands (`env`) has the summaries of none of them. */
export function firstWords(entries: readonly Completed[]): Word[] {
  const firsts = new Set(entries.map(({ name }) => name.split(" ")[0] ?? name));
  return [...firsts].map((word) => {
    const seconds = secondWords(entries, word).map((second) => second.word);
    return { word, summary: entries.find(({ name }) => name === word)?.summary ?? `${word}: ${seconds.join(", ")}.` };
  });
}

/** The words that may follow the first word of a group. */
function secondWords(entries: readonly Completed[], group: string): Word[] {
  return entries
    .filter(({ name }) => name.startsWith(`${group} `))
    .map(({ name, summary }) => ({ word: name.slice(group.length + 1), summary }));
}

/** The first words that a second one may follow, each with those. */
export function groups(entries: readonly Completed[]): { group: string; seconds: Word[] }[] {
  return firstWords(entries).flatMap(({ word: group }) => {
    const seconds = secondWords(entries, group);
    return seconds.length === 0 ? [] : [{ group, seconds }];
  });
}

/** Longer names first, because `rows` and `rows get` are both commands. */
export const longestFirst = (entries: readonly Completed[]): Completed[] =>
  entries.toSorted((a, b) => b.name.split(" ").length - a.name.split(" ").length);
