import type { SingleBuildReply } from "../api/builds.ts";

/** A build's error in parts: what happened, and the last lines of output. */
export interface Evidence {
  reason: string;
  output: string[];
  /** The last request to the new version, or where the app listens instead. */
  probe: string | undefined;
  exitCode: string | undefined;
}

/** Splits the error of a build into its parts (docs/api.md, Health check). */
export function evidenceOf(error: string): Evidence {
  const [reason = "", output] = error.split(/\n(?:Last output|Output):\n/, 2);
  return {
    reason,
    output: output?.split("\n") ?? [],
    probe:
      /The last probe, GET [^\n]*?(?:answered with \d+|no answer within \d+ s)/.exec(reason)?.[0] ??
      /(?:Nothing is listening on port \d+|Your app listens on [^\n]{1,120})/.exec(reason)?.[0],
    exitCode: /exit(?:ed with)? code (\d+)/.exec(reason)?.[1],
  };
}

export type StageName = "pending" | "analyzing" | "building" | "releasing" | "deploying";

/** A stage of a build's timeline. Its times come from the build and its log. */
export interface Stage {
  name: StageName;
  state: "done" | "current" | "failed" | "canceled" | "ahead";
  startedAt: string | undefined;
  endedAt: string | undefined;
}

const order: readonly StageName[] = ["pending", "analyzing", "building", "releasing", "deploying"];

/** The stage in which a build failed: the one that its error names, else the last one in its log. */
function failedIn(build: SingleBuildReply, lastLogged: string | undefined): StageName {
  const reason = build.error ?? "";
  if (/did not become healthy|before it was healthy/.test(reason)) return "deploying";
  if (reason.startsWith("The release command ")) return "releasing";
  if (reason.startsWith("The image could not be built")) return "building";
  const logged = order.find((name) => name === lastLogged);
  return logged ?? (build.size === null ? "pending" : "analyzing");
}

/** The stages of a build with their times, as far as they are known. */
export function stagesOf(build: SingleBuildReply, lines: readonly { at: string; source: string }[]): Stage[] {
  const firstAt = new Map<string, string>();
  for (const { at, source } of lines) if (!firstAt.has(source)) firstAt.set(source, at);
  const isOver = build.status === "ready" || build.status === "error" || build.canceledAt !== null;
  const stop =
    build.status === "error"
      ? failedIn(build, lines.at(-1)?.source)
      : build.status === "ready"
        ? undefined
        : build.status === "deploying" && firstAt.has("releasing") && !firstAt.has("deploying")
          ? "releasing"
          : (build.status as StageName);
  const stopIndex = stop === undefined ? order.length : order.indexOf(stop);
  const stopState = build.canceledAt !== null ? "canceled" : build.status === "error" ? "failed" : "current";
  // Builds without a release command have no such stage.
  const names = order.filter((name) => name !== "releasing" || firstAt.has("releasing") || stop === "releasing");
  const startOf = (name: StageName) => (name === "pending" ? build.createdAt : firstAt.get(name));
  return names.map((name, index) => {
    const at = order.indexOf(name);
    const state = at < stopIndex ? "done" : at === stopIndex ? stopState : "ahead";
    const next = names
      .slice(index + 1)
      .map(startOf)
      .find(Boolean);
    const endedAt =
      state === "ahead" || state === "current" ? undefined : (next ?? (isOver ? build.updatedAt : undefined));
    return { name, state, startedAt: state === "ahead" ? undefined : startOf(name), endedAt };
  });
}

/** `file:line` of a finding; only the file without a line, and empty without a file. */
export function placeOf({ file, line }: { file: string | null; line: number | null }): string {
  if (file === null) return "";
  return line === null ? file : `${file}:${line}`;
}
