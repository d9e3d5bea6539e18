import * as z from "zod";
import { limits } from "./limits.ts";

/** Length in Unicode code points, the unit of every length limit (docs/api.md, Requests and answers). */
export function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

/** Whether a text can be stored: a lone surrogate cannot be encoded in UTF-8, and PostgreSQL and environment variables cannot hold NUL. */
export function isStorableText(text: string): boolean {
  return !text.includes("\u0000") && text.isWellFormed();
}

/** Free text that may be absent: trimmed, then measured; the empty string and null mean none (docs/api.md, Build fields). */
export const optionalText = (lengthMax: number) =>
  z
    .union([z.string(), z.null()], { error: "must be a string or null" })
    .optional()
    .transform((text) => text?.trim() || null)
    .refine((text) => text === null || lengthOf(text) <= lengthMax, {
      error: `must have at most ${lengthMax} characters`,
    })
    .refine((text) => text === null || isStorableText(text), { error: "must be well-formed Unicode without NUL" });

/** A page size in the query string: an integer in its range (docs/api.md, Lists). */
export const pageLimit = (max: number, standard: number) =>
  z
    .string()
    .optional()
    .transform((text, context) => {
      if (text === undefined) return standard;
      const value = /^\d{1,6}$/.test(text) ? Number(text) : 0;
      if (value >= 1 && value <= max) return value;
      context.issues.push({ code: "custom", message: `must be an integer from 1 to ${max}`, input: text });
      return z.NEVER;
    });

/** The `nextCursor` of a list's earlier answer; clients do not interpret it. */
export const cursor = () =>
  z.string().min(1, { error: "must be a cursor that this list returned" }).max(1024).optional();

/** UTC with milliseconds: `2026-11-20T01:02:03.456Z`. */
export const timestamp = () => z.iso.datetime({ precision: 3 });

/** What every route can answer beside its own errors. */
export const commonErrors = [
  "invalid_request",
  "unauthorized",
  "not_found",
  "body_too_large",
  "too_many_requests",
  "internal",
  "unavailable",
] as const;

/** The name of a resource, trimmed (docs/api.md, Names). */
export const resourceName = () =>
  z
    .string({ error: "must be a string" })
    .transform((text) => text.trim())
    .refine((text) => text !== "", { error: "must not be empty" })
    .refine((text) => lengthOf(text) <= limits.nameLengthMax, {
      error: `must have at most ${limits.nameLengthMax} characters`,
    })
    .refine(isStorableText, { error: "must be well-formed Unicode without NUL" });

/** The name of what is to be deleted, repeated so that nothing is deleted by mistake. */
export const confirmation = () =>
  z.object({ confirm: z.string({ error: "must be the name of what is to be deleted" }) });
