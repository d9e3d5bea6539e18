import * as z from "zod";
import { isStorableText, lengthOf } from "./common.ts";
import { limits } from "./limits.ts";
import { tokenAccesses } from "./route.ts";

/** The purpose of a key or a token: trimmed; absent and null mean the empty text. */
export const description = z
  .union([z.string(), z.null()], { error: "must be a string" })
  .optional()
  .transform((text) => text?.trim() ?? "")
  .refine((text) => lengthOf(text) <= limits.credentialDescriptionLengthMax, {
    error: `must have at most ${limits.credentialDescriptionLengthMax} characters`,
  })
  .refine(isStorableText, { error: "must be well-formed Unicode without NUL" });

const days = `must be an integer from 1 to ${limits.tokenValidDaysMax}`;

/** The limits of a personal access token (docs/api.md, Personal access tokens). */
export const tokenBounds = {
  access: z.enum(tokenAccesses, { error: "must be read, deploy or all" }).default("all"),
  organizationIds: z
    .array(z.string({ error: "must be an id" }), { error: "must be a list of ids of organizations" })
    .min(1, { error: "must name at least 1 organization" })
    .max(limits.tokenOrganizationsMax, { error: `must name at most ${limits.tokenOrganizationsMax} organizations` })
    .transform((ids) => [...new Set(ids)])
    .optional(),
  expiresInDays: z
    .int({ error: days })
    .min(1, { error: days })
    .max(limits.tokenValidDaysMax, { error: days })
    .optional(),
};
