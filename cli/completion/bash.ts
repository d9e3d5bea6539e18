import { type Completed, firstWords, groups, longestFirst } from "./completed.ts";

const wordsOf = (words: readonly { word: string }[]) => words.map(({ word }) => word).join(" ");
const flagsOf = (options: Completed["options"]) => options.map(({ name }) => `--${name}`).join(" ");

function caseOf({ name, choices, options }: Completed): string {
  const valued = options.filter(({ value }) => value !== undefined);
  const facts = [`flags="${flagsOf(options)}"`, `valued=" ${flagsOf(valued)} "`, `words="${choices.join(" ")}"`];
  return `    "${name} "*) ${facts.join("; ")} ;;`;
}

/** Completion by bash's own functions alone. File names come from `-o default`, when there are no words. */
export function bash(entries: readonly Completed[]): string {
  return [
    "_slipway() {",
    '  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"',
    '  local line="${COMP_WORDS[*]:1} " words="" flags="" valued=""',
    "  COMPREPLY=()",
    '  case "$line" in',
    ...longestFirst(entries).map(caseOf),
    "  esac",
    '  if [ "$COMP_CWORD" -eq 1 ]; then',
    `    words="${wordsOf(firstWords(entries))}"; flags="--help"; valued=""`,
    '  elif [ "$COMP_CWORD" -eq 2 ]; then',
    '    case "${COMP_WORDS[1]}" in',
    ...groups(entries).map(({ group, seconds }) => `      ${group}) words="$words ${wordsOf(seconds)}" ;;`),
    "    esac",
    "  fi",
    '  case "$valued" in *" $previous "*) return ;; esac',
    '  case "$current" in -*) words="$flags" ;; esac',
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    "}",
    "complete -o default -F _slipway slipway",
  ].join("\n");
}
