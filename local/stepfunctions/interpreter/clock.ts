const TIMER_MAX_MS = 2 ** 31 - 1;

/** Time as the engine sees it: milliseconds since the epoch, and one-shot timers. */
export interface Clock {
  now(): number;
  /** Runs once the clock has reached `due` (ms since the epoch); the answer cancels it. */
  at(due: number, run: () => void): () => void;
}

/** Starts a timer and gives what cancels it; a test's clock may run faster than the wall's. */
export type Schedule = (run: () => void, afterMs: number) => () => void;

const wallSchedule: Schedule = (run, afterMs) => {
  const timer = setTimeout(run, afterMs);
  return () => clearTimeout(timer);
};

/** A clock over `now`; timers longer than setTimeout can hold, or that fire early, are set again. */
export function createClock(now: () => Date, schedule: Schedule = wallSchedule): Clock {
  const read = () => now().getTime();
  return {
    now: read,
    at(due, run) {
      let cancel = () => {};
      const arm = () => {
        cancel = schedule(
          () => (read() >= due ? run() : arm()),
          Math.min(TIMER_MAX_MS, Math.max(0, Math.ceil(due - read()))),
        );
      };
      arm();
      return () => cancel();
    },
  };
}
