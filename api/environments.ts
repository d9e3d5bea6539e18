import * as z from "zod";
import { timestamp } from "./common.ts";
import { limits } from "./limits.ts";
import { route } from "./route.ts";

const environment = z.object({
  id: z.string(),
  name: z.string(),
  value: z.string(),
  createdAt: timestamp(),
  updatedAt: timestamp(),
});

const name = z
  .string({ error: "must be a string" })
  .max(limits.variableNameLengthMax, { error: `must have at most ${limits.variableNameLengthMax} characters` })
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, {
    error: "must contain only letters, digits and underscores, and not begin with a digit",
  })
  .refine((text) => text !== "PORT", { error: "PORT is set by the service and cannot be a variable" });

const utf8 = new TextEncoder();
const value = z
  .string({ error: "must be a string" })
  .refine((text) => utf8.encode(text).length <= limits.variableValueBytesMax, {
    error: `must have at most ${limits.variableValueBytesMax} bytes in UTF-8`,
  })
  .refine((text) => !text.includes("\u0000"), { error: "must not contain NUL" })
  .refine((text) => text.isWellFormed(), { error: "must be well-formed Unicode" });

const environments = "/organizations/{orgId}/projects/{projectId}/environments" as const;

export const listEnvironments = route("list-environments", `GET ${environments}`, {
  summary: "The project's environment variables, oldest first.",
  reply: () => z.object({ environments: z.array(environment) }),
  status: 200,
  errors: [],
  uses: ["table:read"],
});

export const createEnvironment = route("create-environment", `POST ${environments}`, {
  summary: "Stores a variable; the running app sees it after a rebuild.",
  event: "commit",
  body: () => z.object({ name, value }),
  reply: () => z.object({ environment }),
  status: 201,
  errors: ["name_taken", "limit_reached", "variables_too_large", "idempotency_mismatch"],
  uses: ["table:read", "table:write"],
});

export const updateEnvironment = route("update-environment", `PUT ${environments}/{envId}`, {
  summary: "Changes a variable's name, value or both.",
  event: "commit",
  body: () =>
    z
      .object({ name: name.optional(), value: value.optional() })
      .refine((body) => body.name !== undefined || body.value !== undefined, { error: "name or value is required" }),
  reply: () => z.object({ environment }),
  status: 200,
  errors: ["name_taken", "variables_too_large"],
  uses: ["table:read", "table:write"],
});

export const deleteEnvironment = route("delete-environment", `DELETE ${environments}/{envId}`, {
  summary: "Deletes a variable; the running app keeps it until a rebuild.",
  event: "commit",
  reply: () => z.object({ environment: z.string() }),
  status: 200,
  errors: [],
  uses: ["table:read", "table:write"],
});
