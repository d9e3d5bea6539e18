export interface Completed {
  name: string;
  summary: string;
  options: readonly string[];
}

const first = (name: string) => name.split(" ")[0] ?? name;
const unique = (names: readonly string[]) => [...new Set(names)];
const flags = ({ options }: Completed) => options.map((option) => `--${option}`).join(" ");

/** One case for each command of one or two words: what may follow it. */
function cases(entries: readonly Completed[]): string[] {
  const groups = unique(entries.filter(({ name }) => name.includes(" ")).map(({ name }) => first(name)));
  return [
    ...entries.map((entry) => `    "${entry.name}") words="${flags(entry)}" ;;`),
    ...groups.map((group) => {
      const second = entries
        .filter(({ name }) => name.startsWith(`${group} `))
        .map(({ name }) => name.slice(group.length + 1));
      return `    "${group}") words="${second.join(" ")}" ;;`;
    }),
  ];
}

function bash(entries: readonly Completed[]): string {
  return [
    "_slipway() {",
    '  local words="" current="${COMP_WORDS[COMP_CWORD]}" one="${COMP_WORDS[1]}" two="${COMP_WORDS[1]} ${COMP_WORDS[2]}"',
    `  if [ "$COMP_CWORD" -eq 1 ]; then words="${unique(entries.map(({ name }) => first(name))).join(" ")}"; else`,
    '  for key in "$two" "$one"; do',
    '    [ "$key" = "$two" ] && [ "$COMP_CWORD" -eq 2 ] && continue',
    '    case "$key" in',
    ...cases(entries),
    "    esac",
    '    [ -n "$words" ] && break',
    "  done; fi",
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    '  [ -z "$words" ] && COMPREPLY=($(compgen -f -- "$current"))',
    "}",
    "complete -o default -F _slipway slipway",
  ].join("\n");
}

const zsh = (entries: readonly Completed[]) =>
  ["autoload -U +X bashcompinit && bashcompinit", bash(entries)].join("\n");

const fishText = (text: string) => `'${text.replaceAll("'", "\\'")}'`;

function fish(entries: readonly Completed[]): string {
  const groups = unique(entries.map(({ name }) => first(name)));
  const plain = groups.map((group) => {
    const summary = entries.find(({ name }) => name === group)?.summary ?? `${group} commands`;
    return `complete -c slipway -n __fish_use_subcommand -f -a ${group} -d ${fishText(summary)}`;
  });
  const second = entries
    .filter(({ name }) => name.includes(" "))
    .map(({ name, summary }) => {
      const [group, word] = name.split(" ");
      return `complete -c slipway -n '__fish_seen_subcommand_from ${group}' -f -a ${word} -d ${fishText(summary)}`;
    });
  const options = entries.flatMap(({ name, options }) =>
    options.map(
      (option) => `complete -c slipway -n '__fish_seen_subcommand_from ${name.split(" ").at(-1)}' -l ${option}`,
    ),
  );
  return [...plain, ...second, ...options].join("\n");
}

/** The completion script of each shell. */
export const completionScripts = { bash, zsh, fish } as const;
export type Shell = keyof typeof completionScripts;
