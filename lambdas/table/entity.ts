import type * as z from "zod";

export interface Key {
  pk: string;
  sk: string;
}
/** An item of the table with plain values. */
export type Item = Record<string, unknown>;

/** What a condition asks of one attribute; several attributes are joined by AND. */
export type Requirement =
  | { is: "absent" }
  | { is: "present" }
  | { is: "oneOf"; values: readonly (string | number | boolean)[] }
  | { is: "below" | "above"; value: string | number }
  | { is: "absentOrBelow" | "absentOrAbove"; value: string | number }
  /** True if there is no row; false for a row without the attribute. */
  | { is: "newRowOrBelow"; value: number }
  | { is: "absentOrContains"; value: string }
  | { is: "absentOrOneOf"; values: readonly string[] };
export type Condition = Readonly<Record<string, string | number | boolean | Requirement>>;

export const absent: Requirement = { is: "absent" };
export const present: Requirement = { is: "present" };
export const oneOf = (...values: (string | number | boolean)[]): Requirement => ({ is: "oneOf", values });

/** Where a row is in the table, and how it is read. */
export interface Place<R> {
  key: Key;
  read(item: Item): R;
}
interface Change<Set> {
  set?: Set;
  remove?: string[];
  add?: Record<string, number>;
}
/** A write to one row; `R` is the row that was there when its condition fails. */
export type Put<R> = Place<R> & { kind: "put"; item: Item; when?: Condition };
export type Update<R> = Place<R> & Change<Item> & { kind: "update"; when?: Condition };
export type Delete<R> = Place<R> & { kind: "delete"; when?: Condition };
export type Check<R> = Place<R> & { kind: "check"; when: Condition };
export type Write<R = unknown> = Put<R> | Update<R> | Delete<R> | Check<R>;

/** A page of the rows of one kind in one partition, in the order of their sort keys. */
export interface Range {
  limit: number;
  /** Exclusive start: the last part of the sort key of the row before. */
  after?: string | undefined;
  newestFirst?: boolean;
}
export interface List<R> extends Range {
  pk: string;
  prefix: string;
  read(item: Item): R;
}

type Row = z.ZodType<object, Item>;

/**
 * Defines a kind of row: its schema and its keys; `list` is the place of all rows of one owner. The schema is made when the
 * first row is read, because a function knows more kinds of rows than one request reads.
 */
export function entity<S extends Row, K, L = never>(
  schemaOf: () => S,
  key: (id: K) => Key,
  list?: (owner: L) => { pk: string; prefix: string },
) {
  type R = z.output<S>;
  let schema: S | undefined;
  /** Throws if the item is no row of this kind. */
  const read = (item: Item): R => {
    schema ??= schemaOf();
    return schema.parse(item);
  };
  const at = (id: K): Place<R> => ({ key: key(id), read });
  return {
    key,
    read,
    at,
    put: (id: K, row: z.input<S>, when?: Condition): Put<R> => ({ kind: "put", ...at(id), item: { ...row }, when }),
    update: (id: K, change: Change<Partial<z.input<S>>>, when?: Condition): Update<R> => ({
      kind: "update",
      ...at(id),
      ...change,
      set: { ...change.set },
      when,
    }),
    delete: (id: K, when?: Condition): Delete<R> => ({ kind: "delete", ...at(id), when }),
    check: (id: K, when: Condition): Check<R> => ({ kind: "check", ...at(id), when }),
    list: (owner: L, range: Range): List<R> => {
      if (!list) throw new Error("Rows of this kind are not listed");
      return { ...list(owner), ...range, read };
    },
  };
}
