import type { listBuildLogs } from "../api/builds.ts";
import type { ReplyOf } from "../sdk/client-types.ts";
import type { Target } from "./configuration.ts";

export type LogLine = ReplyOf<typeof listBuildLogs>["lines"][number];

/** Reads a build's output page by page, each line once; the last page is read again, since it may have grown. */
export class LogReader {
  readonly #target: Pick<Target, "client" | "project">;
  readonly #buildId: string;
  #cursor: string | undefined;
  #seenOnPage = 0;

  constructor(target: Pick<Target, "client" | "project">, buildId: string) {
    this.#target = target;
    this.#buildId = buildId;
  }

  async *newLines(signal?: AbortSignal): AsyncGenerator<LogLine> {
    const { client, project } = this.#target;
    while (true) {
      const ids = { ...project, buildId: this.#buildId };
      const { lines, nextCursor } = await client.listBuildLogs(
        { ...ids, limit: 1000, cursor: this.#cursor },
        { ...(signal && { signal }) },
      );
      yield* lines.slice(this.#seenOnPage);
      if (nextCursor === null) {
        this.#seenOnPage = lines.length;
        return;
      }
      this.#cursor = nextCursor;
      this.#seenOnPage = 0;
    }
  }
}
