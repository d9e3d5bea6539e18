/**
 * Names that a POSIX shell sets, refuses or interprets for itself (dash dies of OPTIND=x, bash of a readonly UID),
 * so they cannot travel through its environment.
 */
const shellOwned =
  /^(_|BASH.*|COLUMNS|DIRSTACK|ENV|EUID|FUNCNAME|GROUPS|HISTCMD|HOSTTYPE|IFS|LANG|LC_.*|LINENO|LINES|MACHTYPE|MAIL.*|OLDPWD|OPTARG|OPTERR|OPTIND|OSTYPE|PIPESTATUS|POSIXLY_CORRECT|PPID|PS\d|PWD|RANDOM|SECONDS|SHELLOPTS|SHLVL|UID)$/;
const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** A text as one word of a shell's command line. */
export const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * How to hand an environment through a shell unchanged: `env` for the shell itself, and the words of its `exec` that
 * give the app the names which the shell would spoil. Those travel under names of our own, so that no value stands on
 * a command line that stays.
 */
export function throughShell(env: Record<string, string>): { env: Record<string, string>; exec: string } {
  const kept: Record<string, string> = {};
  const unset: string[] = [];
  const assigned: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (identifier.test(name) && !shellOwned.test(name)) {
      kept[name] = value;
      continue;
    }
    const carrier = `slipway_carried_${assigned.length}`;
    kept[carrier] = value;
    unset.push("-u", carrier);
    assigned.push(`${quoted(name)}="$${carrier}"`);
  }
  const exec = assigned.length > 0 ? ["exec /usr/bin/env", ...unset, ...assigned].join(" ") : "exec";
  return { env: kept, exec };
}
