import type { LogStream, PlacedEvent } from "./store.ts";

/** The events that are wanted; times are inclusive. */
export interface Wanted {
  from: number;
  to: number;
  terms: readonly string[];
  newestFirst: boolean;
}

export type StreamEvents = Generator<PlacedEvent & { stream: string }>;

interface Head {
  id: number;
  event: PlacedEvent & { stream: string };
  rest: StreamEvents;
}

/** By time, then by stream and position, so that every read has the same order. */
function isBefore(one: Head, other: Head, newestFirst: boolean): boolean {
  const difference = one.event.timestamp - other.event.timestamp || one.id - other.id;
  return newestFirst ? difference > 0 : difference < 0;
}

/** Merges the events of streams. A stream is opened only when its first event may be the next one. */
export function* mergeByTime(
  streams: readonly LogStream[],
  open: (stream: LogStream) => StreamEvents,
  { from, to, newestFirst }: Wanted,
): StreamEvents {
  const edge = ({ firstEventTimestamp = 0, lastEventTimestamp = Number.POSITIVE_INFINITY }: LogStream) =>
    newestFirst ? -Math.min(lastEventTimestamp, to) : Math.max(firstEventTimestamp, from);
  const unopened = streams
    .filter(({ firstEventTimestamp: first, lastEventTimestamp: last }) => (first ?? 0) <= to && (last ?? from) >= from)
    .sort((one, other) => edge(other) - edge(one));
  const heads: Head[] = [];
  const advance = ({ id, rest }: Omit<Head, "event">) => {
    const { done, value } = rest.next();
    if (!done) heads.push({ id, event: value, rest });
  };
  try {
    for (;;) {
      const next = heads.reduce<Head | undefined>(
        (best, head) => (best === undefined || isBefore(head, best, newestFirst) ? head : best),
        undefined,
      );
      const candidate = unopened.at(-1);
      const time = next && (newestFirst ? -next.event.timestamp : next.event.timestamp);
      if (candidate && (time === undefined || edge(candidate) <= time)) {
        unopened.pop();
        advance({ id: candidate.id, rest: open(candidate) });
        continue;
      }
      if (!next) return;
      heads.splice(heads.indexOf(next), 1);
      yield next.event;
      advance(next);
    }
  } finally {
    for (const { rest } of heads) rest.return(undefined);
  }
}
