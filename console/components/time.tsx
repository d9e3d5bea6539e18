import { signal } from "@preact/signals";

/** The current time, for relative times; it advances while the tab is visible. */
const now = signal(Date.now());
setInterval(() => {
  if (document.visibilityState === "visible") now.value = Date.now();
}, 1_000);

/** The current time; components that use it are rendered again as it changes. */
export const nowMs = (): number => now.value;

const units = [
  ["year", 365 * 86_400],
  ["month", 30 * 86_400],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

/** "3 minutes ago", "in 2 days". Written here, because making an `Intl.RelativeTimeFormat` takes longer than the rest of the page. */
export function relativeTime(at: string, nowMs: number): string {
  const seconds = (Date.parse(at) - nowMs) / 1000;
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? ["second", 1];
  const count = Math.trunc(Math.abs(seconds) / size);
  if (size === 1 && count < 10) return "just now";
  const text = `${count} ${unit}${count === 1 ? "" : "s"}`;
  return seconds < 0 ? `${text} ago` : `in ${text}`;
}

let absolute: Intl.DateTimeFormat | undefined;

/** Puts the exact time into the tooltip, which is formatted only when it is needed. */
function addTooltip({ currentTarget }: { currentTarget: HTMLTimeElement }): void {
  absolute ??= new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
  currentTarget.title = absolute.format(new Date(currentTarget.dateTime));
}

/** A moment, relative to now; the exact time is in its tooltip. */
export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} onPointerEnter={addTooltip}>
      {relativeTime(at, now.value)}
    </time>
  );
}

/** "42 s", "3 min 5 s", "1 h 2 min". */
export function durationText(seconds: number): string {
  if (seconds > 0 && seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return whole % 60 === 0 ? `${minutes} min` : `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
