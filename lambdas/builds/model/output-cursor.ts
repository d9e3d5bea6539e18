import * as z from "zod";
import { claimedPosition, isGenuine, sealCursor } from "../../http/cursor.ts";

const position = z.object({ at: z.number(), skip: z.number() });

/** What a cursor of a project's output holds: a place, the direction, and the filters, which hold while following. */
const outputCursor = z.object({
  direction: z.enum(["back", "follow"]),
  position,
  /** Where following goes on from the newest page. */
  head: position,
  since: z.string().optional(),
  buildId: z.string().optional(),
  text: z.string().optional(),
});
export type OutputCursor = z.infer<typeof outputCursor>;

const listName = (projectId: string) => `app-logs:${projectId}`;

export function sealOutputCursor(project: { id: string; secret: string }, cursor: OutputCursor): string {
  return sealCursor(project.secret, listName(project.id), JSON.stringify(cursor));
}

/** A cursor's content, not yet verified; undefined if it is malformed. */
export function claimedOutputCursor(cursor: string): OutputCursor | undefined {
  try {
    return outputCursor.parse(JSON.parse(claimedPosition(cursor)));
  } catch {
    return undefined;
  }
}

/** Whether this project's output gave the cursor out. */
export function isGenuineOutputCursor(project: { id: string; secret: string }, cursor: string): boolean {
  return isGenuine(project.secret, listName(project.id), cursor);
}
