import * as z from "zod";
import { isId } from "../../../api/ids.ts";
import { entity, type Place } from "../../table/entity.ts";

const at = () => z.iso.datetime({ precision: 3 });

const databaseSchema = () =>
  z.object({
    id: z.string(),
    organizationId: z.string(),
    name: z.string(),
    secret: z.string(),
    /** 2: listed in its organization and counted in its totals. */
    version: z.int().default(1),
    createdAt: at(),
    /** Absent in rows from before names could change. */
    updatedAt: at().optional(),
  });
export type DatabaseRow = z.infer<ReturnType<typeof databaseSchema>>;

/** A database of an organization; `secret` seals the cursors of its lists. */
export const Database = entity(databaseSchema, (k: { id: string }) => ({ pk: `DBS#${k.id}`, sk: "DBS" }));

/** A database in the organization's partition, so that one query lists all; a copy that changes with the `Database`. */
export const DatabaseEntry = entity(
  () => databaseSchema().omit({ secret: true }),
  (k: { organizationId: string; id: string }) => ({ pk: `ORG#${k.organizationId}`, sk: `DBS#${k.id}` }),
  (of: { organizationId: string }) => ({ pk: `ORG#${of.organizationId}`, prefix: "DBS#" }),
);

/** The place of the database in the path; `none` is the place of no row. */
export function databaseAt({ dbId }: { dbId: string }): Place<DatabaseRow> {
  return Database.at({ id: isId("dbs", dbId) ? dbId : "none" });
}
