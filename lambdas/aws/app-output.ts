import { CloudWatchLogsClient, FilterLogEventsCommand } from "@aws-sdk/client-cloudwatch-logs";
import { projectLogs, taskOfLog } from "./app-names.ts";
import { isNamed, shortCallDefaults } from "./clients.ts";

export interface OutputLine {
  /** Milliseconds since the epoch. */
  at: number;
  buildId: string;
  taskId: string;
  text: string;
}

/** A place among a project's lines: of the lines of this millisecond, so many were read. */
export interface OutputPosition {
  at: number;
  skip: number;
}

export interface OutputQuery {
  projectId: string;
  buildId: string | undefined;
  newestFirst: boolean;
  /** Milliseconds since the epoch; `to` is exclusive. */
  from: number;
  to: number;
  position: OutputPosition | undefined;
  limit: number;
}

export interface AppOutput {
  /** The time before which no further lines can appear: a page ends there, so that following loses nothing. */
  settledUntil(now: Date): number;
  /** Up to `limit` lines after a position, in the query's direction; fewer only at the end. */
  lines(query: OutputQuery): Promise<OutputLine[]>;
}

/** The most events that one call gives. */
const eventsMax = 10_000;

export function appOutput(environment: { APP_LOG_GROUP: string; OUTPUT_SETTLE_MS: string }): AppOutput {
  const logs = new CloudWatchLogsClient(shortCallDefaults());
  const settleMs = Number(environment.OUTPUT_SETTLE_MS);

  async function* events({ projectId, buildId, newestFirst, from, to, position, limit }: OutputQuery) {
    const startTime = newestFirst ? from : Math.max(from, position?.at ?? 0);
    const endTime = newestFirst ? Math.min(to - 1, position?.at ?? to) : to - 1;
    if (startTime > endTime) return;
    let nextToken: string | undefined;
    do {
      const output = await logs.send(
        new FilterLogEventsCommand({
          logGroupName: environment.APP_LOG_GROUP,
          logStreamNamePrefix: `${projectLogs(projectId)}${buildId === undefined ? "" : `${buildId}/`}`,
          startTime,
          endTime,
          startFromHead: !newestFirst,
          limit: Math.min(limit + (position?.skip ?? 0), eventsMax),
          nextToken,
        }),
      );
      yield* output.events ?? [];
      nextToken = output.nextToken;
    } while (nextToken !== undefined);
  }

  return {
    settledUntil: (now) => now.getTime() - settleMs + 1,
    async lines(query) {
      const found: OutputLine[] = [];
      let toSkip = query.position?.skip ?? 0;
      try {
        for await (const { timestamp: at = 0, message = "", logStreamName = "" } of events(query)) {
          if (toSkip > 0 && at === query.position?.at) {
            toSkip -= 1;
            continue;
          }
          const task = taskOfLog(logStreamName);
          if (task) found.push({ at, ...task, text: message.replace(/\n$/, "") });
          if (found.length === query.limit) break;
        }
      } catch (error) {
        if (!isNamed(error, "ResourceNotFoundException")) throw error;
      }
      return found;
    },
  };
}
