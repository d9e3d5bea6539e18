import { type Completed, firstWords, groups, longestFirst } from "./completed.ts";

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
/** `_describe` takes a colon as the end of the word. */
const described = (word: string, summary: string) => quoted(`${word.replaceAll(":", "\\:")}:${summary}`);
const list = (words: readonly { word: string; summary: string }[]) =>
  words.map(({ word, summary }) => described(word, summary)).join(" ");

function caseOf({ name, choices, takesFiles, options }: Completed): string {
  const flags = options.map(({ name: option, describe }) => described(`--${option}`, describe)).join(" ");
  const valued = options.filter(({ value }) => value !== undefined).map((option) => `--${option.name}`);
  const facts = [
    `flags=(${flags})`,
    `valued=(${valued.join(" ")})`,
    `found=(${choices.map(quoted).join(" ")})`,
    `files=${takesFiles ? 1 : 0}`,
  ];
  return `    "${name} "*) ${facts.join("; ")} ;;`;
}

/** Completion by zsh's own system: a file for `fpath`, or to be evaluated after `compinit`. */
export function zsh(entries: readonly Completed[]): string {
  return [
    "#compdef slipway",
    "_slipway() {",
    '  local line="${(j: :)words[2,-1]} "',
    "  local -a found flags valued",
    "  local -i files=0",
    '  case "$line" in',
    ...longestFirst(entries).map(caseOf),
    "  esac",
    "  if (( CURRENT == 2 )); then",
    `    found=(${list(firstWords(entries))}); flags=(${described("--help", "shows the commands")}); valued=(); files=0`,
    "  elif (( CURRENT == 3 )); then",
    '    case "$words[2]" in',
    ...groups(entries).map(({ group, seconds }) => `      ${group}) found+=(${list(seconds)}) ;;`),
    "    esac",
    "  fi",
    "  if (( ${valued[(Ie)$words[CURRENT-1]]} )); then _files; return; fi",
    '  if [[ "$PREFIX" == -* ]]; then _describe -o option flags; return; fi',
    "  (( $#found )) && _describe -t commands command found",
    "  (( files )) && _files",
    "  (( $#found || files )) || _describe -o option flags",
    "}",
    "# Read from a file of fpath, this is the body of the function; evaluated, it has to be registered.",
    'if [ "$funcstack[1]" = "_slipway" ]; then _slipway "$@"; else compdef _slipway slipway; fi',
  ].join("\n");
}
