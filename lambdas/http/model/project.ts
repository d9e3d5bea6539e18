import * as z from "zod";
import { settings } from "../../../api/stored-settings.ts";
import { entity } from "../../table/entity.ts";

const at = () => z.iso.datetime({ precision: 3 });

const managerSchema = () => z.object({ id: z.string(), name: z.string(), email: z.string() });

/** `secret` seals the project's cursors; `managerIds` is absent when the project is open to every member. */
const projectSchema = () =>
  z.object({
    id: z.string(),
    organizationId: z.string(),
    name: z.string(),
    secret: z.string(),
    managerIds: z.array(z.string()).optional(),
    managers: z.array(managerSchema()).optional(),
    /** Absent until the first change; read when an analysis starts. */
    settings: settings().optional(),
    /** 2: listed in its organization and counted in its totals. */
    version: z.int().default(1),
    createdAt: at(),
    /** Absent in rows from before projects could change. */
    updatedAt: at().optional(),
  });
export type ProjectRow = z.infer<ReturnType<typeof projectSchema>>;
export const Project = entity(projectSchema, (k: { id: string }) => ({ pk: `PRJ#${k.id}`, sk: "PRJ" }));

/** A project in the organization's partition, so that one query lists all; a copy that changes with the `Project`. */
export const ProjectEntry = entity(
  () => projectSchema().omit({ secret: true }),
  (k: { organizationId: string; id: string }) => ({ pk: `ORG#${k.organizationId}`, sk: `PRJ#${k.id}` }),
  (of: { organizationId: string }) => ({ pk: `ORG#${of.organizationId}`, prefix: "PRJ#" }),
);
