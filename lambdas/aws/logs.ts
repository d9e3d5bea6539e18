import { CloudWatchLogsClient, GetLogEventsCommand } from "@aws-sdk/client-cloudwatch-logs";
import { clientDefaults, isNamed } from "./clients.ts";

export interface LogLine {
  at: Date;
  text: string;
}
export interface LogPage {
  lines: LogLine[];
  /** The token of the next page; equal to the given token if there are no more lines yet. */
  nextToken: string | undefined;
}

export interface LogReader {
  /** The last lines of a stream, oldest first; none when the stream does not exist. */
  tail(source: "build" | "app", stream: string, limit: number): Promise<LogLine[]>;
  /** A page of a stream from its beginning or from a token of this call. */
  page(source: "build" | "app", stream: string, limit: number, token?: string): Promise<LogPage>;
}

export function logReader(environment: { APP_LOG_GROUP: string; BUILD_LOG_GROUP: string }): LogReader {
  const logs = new CloudWatchLogsClient(clientDefaults());
  const groups = { build: environment.BUILD_LOG_GROUP, app: environment.APP_LOG_GROUP };

  async function read(input: {
    source: "build" | "app";
    stream: string;
    limit: number;
    head: boolean;
    token?: string;
  }) {
    try {
      const output = await logs.send(
        new GetLogEventsCommand({
          logGroupName: groups[input.source],
          logStreamName: input.stream,
          limit: input.limit,
          startFromHead: input.head,
          nextToken: input.token,
        }),
      );
      const lines = (output.events ?? []).map((event) => ({
        at: new Date(event.timestamp ?? 0),
        text: (event.message ?? "").replace(/\n$/, ""),
      }));
      return { lines, nextToken: output.nextForwardToken, previousToken: output.nextBackwardToken };
    } catch (error) {
      if (isNamed(error, "ResourceNotFoundException"))
        return { lines: [], nextToken: input.token, previousToken: input.token };
      throw error;
    }
  }

  /** A page without lines is not yet the stream's beginning; the token that was passed is. */
  async function readTail(source: "build" | "app", stream: string, limit: number): Promise<LogLine[]> {
    let token: string | undefined;
    for (;;) {
      const page = await read({ source, stream, limit, head: false, ...(token && { token }) });
      if (page.lines.length > 0 || page.previousToken === token) return page.lines;
      token = page.previousToken;
    }
  }

  return {
    tail: readTail,
    page: (source, stream, limit, token) => read({ source, stream, limit, head: true, ...(token && { token }) }),
  };
}
