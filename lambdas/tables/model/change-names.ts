import * as z from "zod";
import { isManagedName, isTableName } from "../../../api/tables.ts";

/** A valid column name. Invalid names are reported later, with the other broken rules. */
const name = z
  .string()
  .refine((text) => isTableName(text) && !isManagedName(text))
  .optional()
  .catch(undefined);

const list = <T>(item: z.ZodType<T>) => z.array(item).catch([]);
const renaming = z.object({ from: name, to: name }).catch({ from: undefined, to: undefined });
const column = z.object({ name }).catch({ name: undefined });

/** The column names in a change that may be invalid in other ways. */
const changeNames = z.object({
  drop: list(name),
  rename: list(renaming),
  modify: list(column),
  add: list(column),
  order: list(name),
});
type ChangeNames = z.infer<typeof changeNames>;

interface Needed {
  name: string | undefined;
  path: string;
}

/** The names that each stage requires and the names that exist after it, in the order of the stages. */
const stages: ((names: ChangeNames, present: Set<string>) => { needed: Needed[]; left: Set<string> })[] = [
  ({ drop }, present) => ({
    needed: drop.map((one, index) => ({ name: one, path: `drop.${index}` })),
    left: present.difference(new Set(drop)),
  }),
  ({ rename }, present) => ({
    needed: rename.map(({ from }, index) => ({ name: from, path: `rename.${index}.from` })),
    left: present
      .difference(new Set(rename.map(({ from }) => from)))
      .union(new Set(rename.flatMap(({ to }) => (to === undefined ? [] : [to])))),
  }),
  ({ modify }, present) => ({
    needed: modify.map((one, index) => ({ name: one.name, path: `modify.${index}.name` })),
    left: present,
  }),
  ({ add }, present) => ({
    needed: [],
    left: present.union(new Set(add.flatMap((one) => (one.name === undefined ? [] : [one.name])))),
  }),
  ({ order }, present) => ({
    needed: order.map((one, index) => ({ name: one, path: `order.${index}` })),
    left: present,
  }),
];

/** The first column that a stage requires and that does not exist after the earlier stages. The change may break rules. */
export function missingColumn(
  columns: readonly { name: string }[],
  change: unknown,
): { name: string; path: string } | undefined {
  const { data } = changeNames.safeParse(change);
  if (!data) return undefined;
  let present = new Set(columns.map((one) => one.name));
  for (const stage of stages) {
    const { needed, left } = stage(data, present);
    for (const { name: one, path } of needed) {
      if (one !== undefined && !present.has(one)) return { name: one, path };
    }
    present = left;
  }
  return undefined;
}
