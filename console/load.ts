import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";
import { repeatWhileSeen } from "./repeat.ts";

/** The state of a load. `data` is kept during the next load, even if that fails. */
export interface Loaded<T> {
  data: T | undefined;
  error: unknown;
  loading: boolean;
  reload(): void;
}

interface LoadOptions<T> {
  /** Seconds until the next load; undefined for none. While the tab is hidden, nothing is loaded. */
  every?: (data: T) => number | undefined;
}

interface Shown<T> {
  key: string | undefined;
  data: T | undefined;
  error: unknown;
  loading: boolean;
}

const secondsAfterFault = 5;

/** The last result by key, so that going back shows it at once. */
const remembered = new Map<string, unknown>();
const mounted = new Set<{ key: string; reload(): void }>();

/** Forgets all results, because they belong to the user who was signed in. */
export function forgetLoaded(): void {
  remembered.clear();
}

/** Call it after a change: reloads everything on the page whose key starts with `start`, and forgets such results of other pages. */
export function refresh(start = ""): void {
  for (const key of remembered.keys()) {
    if (key.startsWith(start) && ![...mounted].some((one) => one.key === key)) remembered.delete(key);
  }
  for (const { key, reload } of mounted) if (key.startsWith(start)) reload();
}

/**
 * Loads something, and reloads it when the tab is shown again and when the network is back. `key` identifies the result and
 * contains all ids (`builds/${projectId}`); a new key starts a new load, undefined loads nothing.
 */
export function useLoad<T>(
  key: string | undefined,
  load: (signal: AbortSignal) => Promise<T>,
  options: LoadOptions<T> = {},
): Loaded<T> {
  const first = (): Shown<T> => {
    const data = key === undefined ? undefined : (remembered.get(key) as T | undefined);
    return { key, data, error: undefined, loading: key !== undefined };
  };
  const [state, setState] = useState<Shown<T>>(first);
  const shown = state.key === key ? state : first();
  const latest = useRef({ load, options });
  latest.current = { load, options };
  const start = useRef<() => void>(() => undefined);

  // The request leaves before the page is painted.
  useLayoutEffect(() => {
    if (key === undefined) return;
    const set = (change: Partial<Shown<T>>) =>
      setState((before) => {
        const current = before.key === key ? before : first();
        return change.loading && current.loading ? current : { ...current, ...change };
      });
    let seconds: number | undefined;
    const work = repeatWhileSeen(async (signal) => {
      set({ loading: true });
      try {
        const data = await latest.current.load(signal);
        if (signal.aborted) return undefined;
        remembered.set(key, data);
        set({ data, error: undefined, loading: false });
        seconds = latest.current.options.every?.(data);
        return seconds;
      } catch (error) {
        if (!signal.aborted) set({ error, loading: false });
        // Polling continues after an error.
        return seconds && Math.max(seconds, secondsAfterFault);
      }
    });
    start.current = work.again;
    const entry = { key, reload: work.again };
    mounted.add(entry);
    return () => {
      mounted.delete(entry);
      work.stop();
    };
  }, [key]);

  const reload = useCallback(() => start.current(), []);
  return { data: shown.data, error: shown.error, loading: shown.loading, reload };
}
