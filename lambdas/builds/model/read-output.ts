import type { AppOutput, OutputLine, OutputPosition, OutputQuery } from "../../aws/app-output.ts";

type Mask = (line: string) => string;

export interface OutputPage {
  /** In the direction of the query, masked. */
  lines: OutputLine[];
  /** After the last line that was looked at. */
  position: OutputPosition | undefined;
  /** Whether there is nothing more in this direction. */
  isAtEnd: boolean;
}

/** Lines that are looked at in one call while a text is searched. */
const searchedAtOnce = 2_000;
/** A search ends its page after this time, however little it has found; its cursor goes on from there. */
const searchMs = 4_000;

function after({ at }: OutputLine, position: OutputPosition | undefined): OutputPosition {
  return { at, skip: position?.at === at ? position.skip + 1 : 1 };
}

/** One page of a project's output: lines are masked with the values of their build before a text is searched in them. */
export async function readOutput(
  query: OutputQuery & { text: string | undefined },
  maskOf: (buildId: string) => Promise<Mask>,
  output: AppOutput,
): Promise<OutputPage> {
  const masks = new Map<string, Mask>();
  const text = query.text?.toLowerCase();
  const lines: OutputLine[] = [];
  let { position } = query;
  const until = Date.now() + searchMs;
  while (lines.length < query.limit && Date.now() < until) {
    const looked = text ? searchedAtOnce : query.limit - lines.length;
    // One more line than is looked at shows whether there are others.
    const found = await output.lines({ ...query, position, limit: looked + 1 });
    for (const [index, line] of found.entries()) {
      if (index === looked || lines.length === query.limit) return { lines, position, isAtEnd: false };
      position = after(line, position);
      const mask = masks.get(line.buildId) ?? (await maskOf(line.buildId));
      masks.set(line.buildId, mask);
      const masked = mask(line.text);
      if (!text || masked.toLowerCase().includes(text)) lines.push({ ...line, text: masked });
    }
    if (found.length <= looked) return { lines, position, isAtEnd: true };
  }
  return { lines, position, isAtEnd: false };
}
