import { describe, expect, it } from "vitest";
import { type ArchiveRule, quoteName } from "../../../../buildpack/zip/refused.ts";
import type { ForgedEntry } from "./forge.ts";
import { refusal } from "./opened.ts";

/** What is wrong with an archive, and the rule and entry that its refusal must name. */
export type Refusal = [sentence: string, archive: Buffer, rule: ArchiveRule, entry?: string];

/** Two correct files, for tests that add a wrong one. */
export const a: ForgedEntry = { name: "a.txt", data: "first" };
export const b: ForgedEntry = { name: "b.txt", data: "second file" };
export const text = "the same words again and again and again and again";
export const packedText: ForgedEntry = { name: "p.txt", data: text, deflate: true };

/** One test for each row. */
export function describeRefusals(groups: Record<string, Refusal[]>): void {
  describe.each(Object.entries(groups))("%s", (_, rows) => {
    it.each(rows)("%s is refused", async (_sentence, archive, rule, entry) => {
      const error = await refusal(archive);
      expect({ rule: error.rule, entry: error.entry }).toEqual({ rule, entry });
      // What is wrong, and then a sentence that says what to do.
      expect(error.message).toMatch(
        / in the archive [a-z].+ \(rule \w+\)\. [A-Z].+\.$|^The archive [a-z].+ \(rule \w+\)\. [A-Z].+\.$/,
      );
      expect(error.message).toContain(`(rule ${rule})`);
      if (entry !== undefined) expect(error.message).toContain(quoteName(entry));
    });
  });
}

/** The archive with two bytes at one place changed. */
export function patched(archive: Buffer, at: number, value: number): Buffer {
  archive.writeUInt16LE(value, at);
  return archive;
}
