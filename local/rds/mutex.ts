/** Lets one holder through at a time, first come first served. */
export interface Turnstile {
  /** Waits for the turn and gives the way to end it; gives `undefined` when `waitMs` have passed before. */
  enter(waitMs: number): Promise<(() => void) | undefined>;
}

export function turnstile(): Turnstile {
  const waiting: (() => void)[] = [];
  let held = false;

  const leaver = () => {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const next = waiting.shift();
      if (next) next();
      else held = false;
    };
  };

  return {
    enter(waitMs) {
      if (!held) {
        held = true;
        return Promise.resolve(leaver());
      }
      return new Promise((resolve) => {
        const admit = () => {
          clearTimeout(timer);
          resolve(leaver());
        };
        const timer = setTimeout(() => {
          waiting.splice(waiting.indexOf(admit), 1);
          resolve(undefined);
        }, waitMs);
        waiting.push(admit);
      });
    },
  };
}
