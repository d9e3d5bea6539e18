import type { listAppLogs } from "../api/app-output.ts";
import type { ReplyOf } from "../sdk/client-types.ts";
import { sleepFor } from "../sdk/retry.ts";
import type { Target } from "./configuration.ts";

export type AppLine = ReplyOf<typeof listAppLogs>["lines"][number];

export interface AppOutputFilters {
  /** How many of the newest lines to begin with. */
  limit: number;
  text?: string | undefined;
  since?: string | undefined;
  buildId?: string | undefined;
}

const followSeconds = 1;

/** The newest lines of the project's apps, oldest first; with `follow`, each line that is written afterwards too. */
export async function* appOutput(
  { client, project }: Target,
  { limit, ...filters }: AppOutputFilters,
  follow: boolean,
  signal: AbortSignal,
): AsyncGenerator<AppLine, void, undefined> {
  let page = await client.listAppLogs({ ...project, ...filters, limit }, { signal });
  yield* page.lines;
  while (follow) {
    // A full page may not be the last one.
    if (page.lines.length < limit) await sleepFor(followSeconds, signal);
    page = await client.listAppLogs({ ...project, ...filters, limit, cursor: page.followCursor }, { signal });
    yield* page.lines;
  }
}
