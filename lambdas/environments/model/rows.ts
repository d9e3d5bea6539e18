import * as z from "zod";
import { entity } from "../../table/entity.ts";

const at = () => z.iso.datetime({ precision: 3 });

const variableSchema = () =>
  z.object({
    id: z.string(),
    name: z.string(),
    value: z.string(),
    createdAt: at(),
    updatedAt: at(),
  });
export type VariableRow = z.infer<ReturnType<typeof variableSchema>>;
export const Variable = entity(
  variableSchema,
  (k: { projectId: string; id: string }) => ({ pk: `PRJ#${k.projectId}`, sk: `ENV#${k.id}` }),
  (of: { projectId: string }) => ({ pk: `PRJ#${of.projectId}`, prefix: "ENV#" }),
);
/** Makes a variable's name unique in its project. */
export const VariableName = entity(
  () => z.object({ id: z.string() }),
  (k: { projectId: string; name: string }) => ({
    pk: `PRJ#${k.projectId}`,
    sk: `ENVNAME#${k.name}`,
  }),
);

/** `bytes` is the size of all names and values in UTF-8; rows written before the limit on it lack it. */
const variableCountSchema = () => z.object({ count: z.int(), bytes: z.int().optional() });
export type VariableCountRow = z.infer<ReturnType<typeof variableCountSchema>>;
/** How many variables a project has, and how large they are together. */
export const VariableCount = entity(variableCountSchema, (k: { projectId: string }) => ({
  pk: `PRJ#${k.projectId}`,
  sk: "ENVCOUNT",
}));
