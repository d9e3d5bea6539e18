export interface Repeated {
  /** Does the work now. */
  again(): void;
  stop(): void;
}

/**
 * Does a piece of work at once, then after the seconds that it resolves with, and whenever the tab comes back or the network does.
 * It waits while the tab is hidden. A new run aborts the signal of the one before; work that was aborted must change nothing.
 */
export function repeatWhileSeen(work: (signal: AbortSignal) => Promise<number | undefined>): Repeated {
  let current = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const run = async () => {
    clearTimeout(timer);
    current.abort();
    current = new AbortController();
    const { signal } = current;
    const seconds = await work(signal);
    if (seconds !== undefined && !signal.aborted) timer = setTimeout(runIfSeen, seconds * 1000);
  };
  const runIfSeen = () => {
    if (document.visibilityState === "visible") void run();
  };
  document.addEventListener("visibilitychange", runIfSeen);
  addEventListener("online", runIfSeen);
  void run();
  return {
    again: () => void run(),
    stop() {
      current.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", runIfSeen);
      removeEventListener("online", runIfSeen);
    },
  };
}
