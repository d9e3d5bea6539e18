import * as z from "zod";
import { confirmation, resourceName, timestamp } from "./common.ts";
import { route } from "./route.ts";

const database = z.object({
  id: z.string(),
  name: z.string(),
  status: z.literal("active"),
  createdAt: timestamp(),
  updatedAt: timestamp(),
});
export type DatabaseReply = z.infer<typeof database>;

const databases = "/organizations/{orgId}/databases" as const;

export const listDatabases = route("list-databases", `GET ${databases}`, {
  summary: "The databases of the organization, oldest first; all of its projects share them.",
  tool: { name: "list_databases", description: "The databases of an organization." },
  reply: () => z.object({ databases: z.array(database) }),
  status: 200,
  errors: [],
  uses: ["table:read"],
});

export const createDatabase = route("create-database", `POST ${databases}`, {
  summary: "Creates a database.",
  body: () => z.object({ name: resourceName() }),
  reply: () => z.object({ database }),
  status: 201,
  errors: ["limit_reached", "idempotency_mismatch"],
  event: "commit",
  uses: ["table:read", "table:write"],
  role: "admin",
});

export const updateDatabase = route("update-database", `PUT ${databases}/{dbId}`, {
  summary: "Renames a database.",
  body: () => z.object({ name: resourceName() }),
  reply: () => z.object({ database }),
  status: 200,
  errors: [],
  event: "commit",
  uses: ["table:read", "table:write"],
  role: "admin",
});

export const deleteDatabase = route("delete-database", `DELETE ${databases}/{dbId}`, {
  summary: "Deletes a database with its tables and all their data.",
  query: confirmation,
  reply: () => z.object({ database: z.string() }),
  status: 200,
  errors: [],
  event: "commit",
  uses: ["table:read", "table:write", "removals:start"],
  role: "admin",
});
