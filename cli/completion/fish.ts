import { type Completed, type CompletedOption, firstWords, groups } from "./completed.ts";

const quoted = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;

const functions = `function __slipway_words
    set -l words (commandline -opc)
    test (count $words) -eq (math (count $argv) + 1); or return 1
    __slipway_in $argv
end
function __slipway_in
    test (count $argv) -eq 0; and return 0
    set -l words (commandline -opc)
    test (count $words) -gt (count $argv); or return 1
    test "$words[2.."(math (count $argv) + 1)"]" = "$argv"
end`;

const offered = (after: readonly string[]) => (found: { word: string; summary: string }) =>
  `complete -c slipway -n ${quoted(["__slipway_words", ...after].join(" "))} -f -a ${found.word} -d ${quoted(found.summary)}`;

/** An option whose value is a file completes files, another value nothing. */
function optionOf(condition: string, { name, describe, value }: CompletedOption): string {
  const taken = value === "file" ? " -rF" : value === "text" ? " -x" : "";
  return `complete -c slipway -n ${condition} -l ${name}${taken} -d ${quoted(describe)}`;
}

function commandOf(entries: readonly Completed[], { name, choices, takesFiles, options }: Completed): string[] {
  const isGroup = entries.some((other) => other.name.startsWith(`${name} `));
  const condition = quoted(`__slipway_in ${name}`);
  return [
    ...(takesFiles || isGroup ? [] : [`complete -c slipway -n ${condition} -f`]),
    ...(choices.length > 0 ? [`complete -c slipway -n ${condition} -f -a ${quoted(choices.join(" "))}`] : []),
    ...options.map((option) => optionOf(condition, option)),
  ];
}

/** Completion by fish's conditions: each candidate says after which words it is offered. */
export function fish(entries: readonly Completed[]): string {
  return [
    functions,
    ...firstWords(entries).map(offered([])),
    "complete -c slipway -n __slipway_words -l help -d 'shows the commands'",
    ...groups(entries).flatMap(({ group, seconds }) => seconds.map(offered([group]))),
    ...entries.flatMap((entry) => commandOf(entries, entry)),
  ].join("\n");
}
