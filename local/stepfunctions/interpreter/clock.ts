const TIMER_MAX_MS = 2 ** 31 - 1;

/** The clock of the engine: milliseconds since the epoch, and one-shot timers. */
export interface Clock {
  now(): number;
  /** Calls `run` when the clock reaches `due` (ms since the epoch); returns a function that cancels it. */
  at(due: number, run: () => void): () => void;
}

/** Starts a timer and returns a function that cancels it; tests use one that is faster than real time. */
export type Schedule = (run: () => void, afterMs: number) => () => void;

const systemSchedule: Schedule = (run, afterMs) => {
  const timer = setTimeout(run, afterMs);
  return () => clearTimeout(timer);
};

/** Creates a clock from `now`; timers that are too long for setTimeout or fire early are set again. */
export function createClock(now: () => Date, schedule: Schedule = systemSchedule): Clock {
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
