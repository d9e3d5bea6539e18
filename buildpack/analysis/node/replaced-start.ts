import { commandsOf, invocationOf } from "../command.ts";
import { stringAt, type Table } from "../values.ts";
import type { Dependencies } from "./dependencies.ts";

/** A start command that is used instead of the declared one, and the advice that says so. */
export interface Replacement {
  line: string;
  advice: { code: string; message: string };
}

/** The replacement for a command that hands the app to a daemon or compiles it at each start; undefined for other commands. */
export function replacedStart(
  line: string,
  manifest: Table | undefined,
  dependencies: Dependencies,
): Replacement | undefined {
  const last = commandsOf(line).at(-1)?.text ?? "";
  const { assignments, program, words, rest } = invocationOf(last);
  const instead =
    program === "pm2" && words[1] === "start"
      ? foregroundOfPm2(rest, words, dependencies)
      : program === "forever" && words[1] === "start"
        ? scriptOf(words)
        : program === "nest" && words[1] === "start"
          ? builtNest(manifest)
          : undefined;
  if (instead === undefined) return undefined;
  const before = line.slice(0, line.lastIndexOf(last));
  return {
    line: `${before}${[...assignments, instead].join(" ")}`,
    advice:
      program === "nest"
        ? {
            code: "development_start",
            message: `${rest} compiles the app at each start, so ${instead} is used after the build. Write it into scripts.start.`,
          }
        : {
            code: "daemon_start",
            message: `${rest} starts the app in the background and ends, so ${instead} is used. Write it into the start command.`,
          },
  };
}

/** pm2-runtime takes the same arguments and stays in the foreground; without the package, the script itself is run. */
function foregroundOfPm2(rest: string, words: readonly string[], dependencies: Dependencies): string | undefined {
  if (dependencies.has("pm2")) return rest.replace(/^\S+\s+start/, "pm2-runtime start").replace(/\s+--no-daemon\b/, "");
  return scriptOf(words);
}

function scriptOf(words: readonly string[]): string | undefined {
  const script = words.find((word) => /^[\w@./-]+\.[cm]?[jt]s$/.test(word) && !/(^|\/)ecosystem\./.test(word));
  return script === undefined ? undefined : `node ${script}`;
}

/** `nest start` builds at each start, although the build stage already did. */
function builtNest(manifest: Table | undefined): string {
  const production = stringAt(manifest, "scripts", "start:prod");
  return production !== undefined && /^node\s+[\w./-]+$/.test(production) ? production : "node dist/main";
}
