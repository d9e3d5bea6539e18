import * as z from "zod";
import { entity } from "../../table/entity.ts";

const at = z.iso.datetime({ precision: 3 });

const variableSchema = z.object({
  id: z.string(),
  name: z.string(),
  value: z.string(),
  createdAt: at,
  updatedAt: at,
});
export type VariableRow = z.infer<typeof variableSchema>;
export const Variable = entity(
  variableSchema,
  (k: { projectId: string; id: string }) => ({ pk: `PRJ#${k.projectId}`, sk: `ENV#${k.id}` }),
  (of: { projectId: string }) => ({ pk: `PRJ#${of.projectId}`, prefix: "ENV#" }),
);
/** Makes a variable's name unique in its project. */
export const VariableName = entity(z.object({ id: z.string() }), (k: { projectId: string; name: string }) => ({
  pk: `PRJ#${k.projectId}`,
  sk: `ENVNAME#${k.name}`,
}));
export const VariableCount = entity(z.object({ count: z.int() }), (k: { projectId: string }) => ({
  pk: `PRJ#${k.projectId}`,
  sk: "ENVCOUNT",
}));
