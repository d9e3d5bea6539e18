export interface Repeated {
  /** Runs the work now. */
  again(): void;
  stop(): void;
}

/**
 * Runs `work` at once, again after the seconds that it resolves with, and when the tab is shown again or the network is back.
 * Pauses while the tab is hidden. A new run aborts the signal of the previous one; aborted work must change nothing.
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
