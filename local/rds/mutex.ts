/** A mutex; callers get it in the order of their calls. */
export interface Mutex {
  /** Waits for the lock and returns its release function, or undefined after `waitMs`. */
  acquire(waitMs: number): Promise<(() => void) | undefined>;
}

export function createMutex(): Mutex {
  const waiting: (() => void)[] = [];
  let isHeld = false;

  const releaseOnce = () => {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      const next = waiting.shift();
      if (next) next();
      else isHeld = false;
    };
  };

  return {
    acquire(waitMs) {
      if (!isHeld) {
        isHeld = true;
        return Promise.resolve(releaseOnce());
      }
      return new Promise((resolve) => {
        const admit = () => {
          clearTimeout(timer);
          resolve(releaseOnce());
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
