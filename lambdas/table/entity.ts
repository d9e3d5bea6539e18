import type * as z from "zod";

export interface Key {
  pk: string;
  sk: string;
}

/** What a condition asks of one attribute; several attributes are joined by AND. */
export type Requirement =
  | { is: "absent" }
  | { is: "present" }
  | { is: "oneOf"; values: readonly (string | number | boolean)[] }
  | { is: "below" | "above"; value: string | number }
  | { is: "absentOrBelow"; value: string | number }
  | { is: "absentOrContains"; value: string };
export type Condition = Readonly<Record<string, string | number | boolean | Requirement>>;

export const absent: Requirement = { is: "absent" };
export const present: Requirement = { is: "present" };
export const oneOf = (...values: (string | number | boolean)[]): Requirement => ({ is: "oneOf", values });

/** One write in the form of TransactWriteItems, without the table's name. */
export type Write =
  | { kind: "put"; key: Key; item: Record<string, unknown>; when?: Condition }
  | {
      kind: "update";
      key: Key;
      set: Record<string, unknown>;
      remove?: string[];
      add?: Record<string, number>;
      when?: Condition;
    }
  | { kind: "delete"; key: Key; when?: Condition }
  | { kind: "check"; key: Key; when: Condition };

export interface Entity<S extends z.ZodObject, K> {
  key(id: K): Key;
  /** The row's item as the table returned it, checked; throws when the row is not of this entity. */
  read(item: Record<string, unknown>): z.infer<S>;
  /** As `read`, for an item that may not be there. */
  maybe(item: Record<string, unknown> | undefined): z.infer<S> | undefined;
  put(id: K, row: z.input<S>, when?: Condition): Write;
  update(
    id: K,
    change: { set?: Partial<z.input<S>>; remove?: (keyof z.input<S> & string)[]; add?: Record<string, number> },
    when?: Condition,
  ): Write;
  delete(id: K, when?: Condition): Write;
  check(id: K, when: Condition): Write;
}

/** Ties a kind of row to its schema and to where it stands in the single table. */
export function entity<S extends z.ZodObject, K>(schema: S, key: (id: K) => Key): Entity<S, K> {
  const read = (item: Record<string, unknown>) => schema.parse(item);
  return {
    key,
    read,
    maybe: (item) => (item === undefined ? undefined : read(item)),
    put: (id, row, when) => ({ kind: "put", key: key(id), item: { ...row }, ...(when && { when }) }),
    update: (id, change, when) => ({
      kind: "update",
      key: key(id),
      set: { ...change.set },
      ...(change.remove && { remove: change.remove }),
      ...(change.add && { add: change.add }),
      ...(when && { when }),
    }),
    delete: (id, when) => ({ kind: "delete", key: key(id), ...(when && { when }) }),
    check: (id, when) => ({ kind: "check", key: key(id), when }),
  };
}
