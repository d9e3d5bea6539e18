/**
 * Names that a POSIX shell sets, refuses or interprets itself (dash fails on OPTIND=x, bash on the read-only UID), so
 * their values cannot be passed in the shell's environment.
 */
const shellOwned =
  /^(_|BASH.*|COLUMNS|DIRSTACK|ENV|EUID|FUNCNAME|GROUPS|HISTCMD|HOSTTYPE|IFS|LANG|LC_.*|LINENO|LINES|MACHTYPE|MAIL.*|OLDPWD|OPTARG|OPTERR|OPTIND|OSTYPE|PIPESTATUS|POSIXLY_CORRECT|PPID|PS\d|PWD|RANDOM|SECONDS|SHELLOPTS|SHLVL|UID)$/;
const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Quotes a text as one word for a shell. */
export const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * Passes an environment through a shell unchanged. `env` is the shell's environment; `exec` is the start of its exec
 * command, which sets the names that the shell would change. Their values are passed in variables with other names, so
 * that no value is visible on a command line.
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
