import * as z from "zod";
import { entity } from "../../table/entity.ts";

/** Grows with every kind of row that `migrate` learns to bring up to date. */
export const migrationVersion = 1;

/** Up to which version of the rows the whole table has been migrated. */
export const Migration = entity(
  () => z.object({ version: z.int() }),
  (_: object) => ({ pk: "MIGRATION", sk: "MIGRATION" }),
);
