import { Automaton, type Range } from "./automaton.ts";
import { readingsOf } from "./readings.ts";

const mask = "[masked]";

/** Shorter values are too common to be masked without making a log unreadable. */
const maskedLengthMin = 6;

/** Values too common to be secrets. */
const harmless = /^(?:true|false|production|development|\d{1,8})$/;

/** Patterns of secrets, each with a cheap test that a text must pass before it is searched. */
const secretShapes: readonly { holds: RegExp; shape: RegExp }[] = [
  { holds: /sl[bcklpstw]_/, shape: /\bsl[bcklpstw]_[0-9a-z]{40,}\b/g },
  { holds: /A[KS]IA/, shape: /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g },
  { holds: /AIza/, shape: /\bAIza[0-9A-Za-z_-]{35}\b/g },
  { holds: /gh[pousr]_/, shape: /\bgh[pousr]_[0-9A-Za-z]{36,}\b/g },
  { holds: /:\/\//, shape: /(?<=:\/\/[^\s:@/]{1,100}:)[^\s@/]{3,200}(?=@)/g },
  { holds: /X-Amz-/, shape: /(?<=[?&]X-Amz-(?:Signature|Security-Token|Credential)=)[^&\s]+/g },
];

/**
 * Gives a function that masks secrets in a line: the values of six or more characters, each line of a value with several
 * lines, their JSON- and URL-escaped forms, and then texts that look like a secret. Overlapping occurrences become one mask.
 */
export function masker(values: readonly string[]): (line: string) => string {
  const automaton = new Automaton(values.flatMap(maskedParts));
  return (line) => {
    const found = readingsOf(line).flatMap(({ text, original }) => automaton.occurrences(text).map(original));
    let text = withoutRanges(line, found);
    for (const { holds, shape } of secretShapes) if (holds.test(text)) text = text.replace(shape, mask);
    return text;
  };
}

/** A value and its lines, because logs are read line by line; trimmed, because logs may drop the space around them. */
function maskedParts(value: string): string[] {
  const whole = value.toWellFormed();
  const parts = whole.split(/[\r\n]/).map((part) => part.trim());
  const trimmed = whole.trim();
  // Some values have six characters only with the space around them.
  if (trimmed !== "" && !harmless.test(trimmed)) parts.push(trimmed, whole);
  return parts.filter((part) => part.length >= maskedLengthMin && !harmless.test(part));
}

function withoutRanges(line: string, ranges: readonly Range[]): string {
  let masked = "";
  let end = 0;
  for (const { from, to } of ranges.toSorted((one, other) => one.from - other.from)) {
    if (from >= end) masked += line.slice(end, from) + mask;
    end = Math.max(end, to);
  }
  return masked + line.slice(end);
}
