import { useEffect, useRef, useState } from "preact/hooks";
import { client } from "./api.ts";
import type { ProjectIds } from "./builds.ts";
import type { LogLine } from "./components/log-view.tsx";
import { repeatWhileSeen } from "./repeat.ts";

/** The part of a log that has been read. */
export interface ReadLog {
  lines: readonly LogLine[];
  error: unknown;
  /** Reads again after an error. */
  reload(): void;
}

/** Reads a build's output to its end. While the build runs, reads the last page again every second, because it may have grown. */
export function useBuildLog(ids: ProjectIds, buildId: string, isRunning: boolean): ReadLog {
  const [lines, setLines] = useState<readonly LogLine[]>([]);
  const [error, setError] = useState<unknown>(undefined);
  const [attempt, setAttempt] = useState(0);
  const place = useRef<{ buildId: string; cursor: string | undefined; complete: LogLine[] }>({
    buildId,
    cursor: undefined,
    complete: [],
  });

  useEffect(() => {
    if (place.current.buildId !== buildId) {
      place.current = { buildId, cursor: undefined, complete: [] };
      setLines([]);
    }

    const readOn = async (signal: AbortSignal) => {
      while (true) {
        const { cursor, complete } = place.current;
        const page = await client.listBuildLogs({ ...ids, buildId, limit: 1000, cursor }, { signal });
        if (signal.aborted) return;
        const read = page.lines.map(({ at, stage, text }): LogLine => ({ at, source: stage, text }));
        if (page.nextCursor === null) {
          setLines((before) => (before.length === complete.length + read.length ? before : [...complete, ...read]));
          return;
        }
        for (const line of read) complete.push(line);
        place.current.cursor = page.nextCursor;
        setLines([...complete]);
      }
    };
    const work = repeatWhileSeen(async (signal) => {
      try {
        await readOn(signal);
        if (!signal.aborted) setError(undefined);
      } catch (reason) {
        if (!signal.aborted) setError(reason);
      }
      return isRunning ? 1 : undefined;
    });
    return work.stop;
  }, [ids.projectId, buildId, isRunning, attempt]);

  return { lines, error, reload: () => setAttempt((count) => count + 1) };
}
