import { AwsError } from "../aws/service.ts";
import type { LogStream } from "./log-store.ts";
import type { PlacedEvent } from "./stream-file.ts";

const answerBytesMax = 1024 * 1024;

/** A place in a stream from which to read, as the tokens of GetLogEvents carry it. */
export interface Place {
  direction: "f" | "b";
  position: number;
}
/** Throws InvalidParameterException for a token that was not given out here. */
export function parseToken(token: string): Place {
  const [, direction, position] = /^([fb])\/(\d+)\/s$/.exec(token) ?? [];
  if ((direction !== "f" && direction !== "b") || position === undefined)
    throw new AwsError("InvalidParameterException", "The specified nextToken is invalid.");
  return { direction, position: Number(position) };
}
/** The token of a place. */
export const token = ({ direction, position }: Place) => `${direction}/${position}/s`;

function firstThatFit(events: PlacedEvent[], count: number): PlacedEvent[] {
  let bytes = 0;
  return events.slice(0, count).filter((event, index) => {
    bytes += event.end - event.start;
    return index === 0 || bytes <= answerBytesMax;
  });
}

/** Reads on over windows that hold nothing of the wanted time, so that an empty page means the end of the stream. */
export async function page(stream: LogStream, from: Place, wanted: (event: PlacedEvent) => boolean, count: number) {
  const forward = from.direction === "f";
  let { position } = from;
  for (;;) {
    const window = forward ? await stream.file.readForward(position) : await stream.file.readBackward(position);
    if (window.length === 0) return { events: [], start: position, end: position };
    const start = window[0]?.start ?? position;
    const end = window.at(-1)?.end ?? position;
    const matching = window.filter(wanted);
    if (matching.length > 0) {
      const events = forward ? firstThatFit(matching, count) : firstThatFit(matching.toReversed(), count).toReversed();
      const whole = events.length === matching.length;
      return {
        events,
        start: forward || whole ? Math.min(start, position) : (events[0]?.start ?? start),
        end: !forward || whole ? Math.max(end, forward ? end : position) : (events.at(-1)?.end ?? end),
      };
    }
    position = forward ? end : start;
  }
}

/** Terms that must all occur, or one quoted phrase: the part of the pattern language that has no operators. */
export function matcher(pattern: string | undefined): (message: string) => boolean {
  if (!pattern) return () => true;
  if (/^[{[%]/.test(pattern.trim()) || /(^|\s)[?-]/.test(pattern))
    throw new AwsError("InvalidParameterException", "Invalid filter pattern");
  const terms = [...pattern.matchAll(/"([^"]*)"|(\S+)/g)].map(([, phrase, word]) => phrase ?? word ?? "");
  return (message) => terms.every((term) => message.includes(term));
}

/** All events of a stream, oldest first. */
export async function everyEvent(stream: LogStream): Promise<PlacedEvent[]> {
  const events: PlacedEvent[] = [];
  for (let window = await stream.file.readForward(0); window.length > 0; ) {
    events.push(...window);
    window = await stream.file.readForward(window.at(-1)?.end ?? 0);
  }
  return events;
}

/** After a restart the times of a stream are known from its first and last event only. */
export async function learnTimes(stream: LogStream): Promise<void> {
  if (stream.firstEventTimestamp !== undefined && stream.lastIngestionTime !== undefined) return;
  const first = (await stream.file.readForward(0))[0];
  const last = (await stream.file.readBackward(stream.file.end)).at(-1);
  if (first) stream.firstEventTimestamp = first.timestamp;
  if (last) Object.assign(stream, { lastEventTimestamp: last.timestamp, lastIngestionTime: last.ingestionTime });
}
