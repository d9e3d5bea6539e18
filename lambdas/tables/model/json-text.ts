import { tableLimits } from "../../../api/tables.ts";
import { isExactNumber } from "./exact-number.ts";

const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{},:]|[-+.\w]+/g;

/** The values of a JSON object as they are written, by their keys; of a repeated key the last value, as with JSON.parse. */
export function writtenMembers(object: string): Map<string, string> {
  const members = new Map<string, string>();
  let depth = 0;
  let text = "";
  let key: string | undefined;
  let start = 0;
  for (const { 0: token, index } of object.matchAll(tokens)) {
    if (token === "{" || token === "[") depth += 1;
    else if (token === ":" && depth === 1) {
      key = JSON.parse(text);
      start = index + 1;
    } else if (depth === 1 && (token === "," || token === "}") && key !== undefined) {
      members.set(key, object.slice(start, index).trim());
      key = undefined;
    }
    if (token === "}" || token === "]") depth -= 1;
    text = token;
  }
  return members;
}

/**
 * The rule that a JSON text breaks if JavaScript would lose part of it; `undefined` if nothing is lost. The text must be
 * valid JSON.
 */
export function jsonLoss(text: string): string | undefined {
  const objects: (Set<unknown> | undefined)[] = [];
  let before = "";
  for (const [token] of text.matchAll(tokens)) {
    if (token === "{" || token === "[") {
      objects.push(token === "{" ? new Set() : undefined);
      if (objects.length > tableLimits.jsonDepthMax) {
        return `must not be nested deeper than ${tableLimits.jsonDepthMax}`;
      }
    } else if (token === "}" || token === "]") objects.pop();
    else if (token === ":") {
      const keys = objects.at(-1);
      const key: unknown = JSON.parse(before);
      if (keys?.has(key)) return "must not contain a key twice in one object";
      keys?.add(key);
    } else if (/^[-\d]/.test(token) && !isExactNumber(token)) {
      return "must contain only numbers that JavaScript can represent without rounding";
    }
    before = token;
  }
  return undefined;
}
