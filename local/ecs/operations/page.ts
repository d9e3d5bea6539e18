import * as z from "zod";
import { AwsError } from "../../aws/service.ts";

/** The input fields of a list call with pages. */
export const pageInput = {
  maxResults: z.int().min(1).max(100).default(100),
  nextToken: z.string().optional(),
};

/** One page of a list, and the token of the next. */
export function page<T>(rows: T[], input: { maxResults: number; nextToken?: string | undefined }) {
  const from = Number(input.nextToken ?? 0);
  if (!Number.isSafeInteger(from)) throw new AwsError("InvalidParameterException", "Invalid nextToken.");
  const to = from + input.maxResults;
  return { rows: rows.slice(from, to), next: to < rows.length ? { nextToken: String(to) } : {} };
}
