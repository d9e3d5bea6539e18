import { useEffect, useRef, useState } from "preact/hooks";
import { client } from "./api.ts";
import type { ProjectIds } from "./builds.ts";
import type { LogLine } from "./components/log-view.tsx";
import { repeatWhileSeen } from "./repeat.ts";

interface Filters {
  text: string;
  buildId: string;
}

export interface AppLog {
  lines: readonly LogLine[];
  error: unknown;
  isLoading: boolean;
  reload(): void;
  /** Reads earlier lines; undefined if there are none. */
  earlier: (() => Promise<void>) | undefined;
}

const pageLines = 1000;

type Page = Awaited<ReturnType<typeof client.listAppLogs>>;
const shown = ({ lines }: Page): LogLine[] =>
  lines.map(({ at, instance, text }) => ({ at, source: instance.slice(-6), text }));

/** The output of a project's app: loads the newest lines, then polls for new ones every second. */
export function useAppLog(ids: ProjectIds, { text, buildId }: Filters): AppLog {
  const [lines, setLines] = useState<readonly LogLine[]>([]);
  const [error, setError] = useState<unknown>(undefined);
  const [isLoading, setLoading] = useState(true);
  const [back, setBack] = useState<string | null>(null);
  const [attempt, setAttempt] = useState(0);
  const filters = { ...(text !== "" && { text }), ...(buildId !== "" && { buildId }) };
  const forward = useRef<string | undefined>(undefined);

  useEffect(() => {
    forward.current = undefined;
    setLines([]);
    setBack(null);
    setLoading(true);

    const work = repeatWhileSeen(async (signal) => {
      const cursor = forward.current;
      try {
        const page = await client.listAppLogs({ ...ids, ...filters, limit: pageLines, cursor }, { signal });
        if (signal.aborted) return undefined;
        forward.current = page.followCursor;
        if (cursor === undefined) setBack(page.nextCursor);
        if (page.lines.length > 0) setLines((before) => [...before, ...shown(page)]);
        setError(undefined);
      } catch (reason) {
        if (signal.aborted) return undefined;
        setError(reason);
      }
      setLoading(false);
      return 1;
    });
    return work.stop;
  }, [ids.projectId, text, buildId, attempt]);

  const earlier = async (cursor: string) => {
    try {
      const page = await client.listAppLogs({ ...ids, ...filters, limit: pageLines, cursor });
      setBack(page.nextCursor);
      setLines((before) => [...shown(page), ...before]);
    } catch (reason) {
      setError(reason);
    }
  };
  return {
    lines,
    error,
    isLoading,
    reload: () => setAttempt((count) => count + 1),
    earlier: back === null ? undefined : () => earlier(back),
  };
}
