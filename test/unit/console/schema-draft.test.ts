import { describe, expect, test } from "vitest";
import { updateTable } from "../../../api/tables.ts";
import { moved, newColumn, tableChangeOf, tableDraft, withType } from "../../../console/schema-draft.ts";

const column = { nullable: true, unique: false, default: null, comment: null } as const;
const date = { ...column, type: "date", nullable: false, default: "CURRENT_TIMESTAMP" } as const;
const table = {
  name: "people",
  comment: "Who we know",
  columns: [
    { ...column, name: "id", type: "integer", nullable: false, unique: true },
    { ...column, name: "name", type: "string", default: "" },
    { ...column, name: "age", type: "integer", default: 0, comment: "in years" },
    { ...column, name: "notes", type: "text" },
    { ...date, name: "created_at" },
    { ...date, name: "updated_at" },
  ],
} as const;
const copy = () => tableDraft(structuredClone(table) as never);
const changeOf = (edit: (draft: ReturnType<typeof copy>) => ReturnType<typeof copy>) => {
  const change = tableChangeOf(structuredClone(table) as never, edit(copy()));
  expect(updateTable.definition.body.safeParse(change).success).toBe(true);
  return change;
};

describe("the form of a table's columns", () => {
  test("changes nothing by itself", () => {
    expect(changeOf((draft) => draft)).toEqual({});
  });

  test("asks for what was changed, under the new names", () => {
    const change = changeOf(({ columns: [name, age] }) => ({
      comment: "",
      columns: [
        { ...name, name: "full_name", nullable: false, unique: true, default: undefined } as never,
        { ...age, default: "18", comment: "" } as never,
        { ...newColumn(), name: "active", type: "boolean", default: "true" },
      ],
    }));
    expect(change).toEqual({
      drop: ["notes"],
      rename: [{ from: "name", to: "full_name" }],
      modify: [
        { name: "full_name", nullable: false, unique: true, default: null },
        { name: "age", default: 18, comment: null },
      ],
      add: [{ name: "active", type: "boolean", nullable: true, unique: false, default: true, comment: null }],
      comment: null,
    });
  });

  test("asks for an order only if the columns have another one", () => {
    const added = { ...newColumn(), name: "added" };
    expect(changeOf((draft) => ({ ...draft, columns: moved(draft.columns, 0, 1) }))).toEqual({
      order: ["age", "name", "notes"],
    });
    expect(changeOf((draft) => ({ ...draft, columns: [...draft.columns, added] }))).not.toHaveProperty("order");
    expect(changeOf((draft) => ({ ...draft, columns: [added, ...draft.columns] }))).toHaveProperty("order", [
      "added",
      "name",
      "age",
      "notes",
    ]);
    const { columns } = copy();
    expect(moved(columns, 0, -1)).toBe(columns);
  });

  test("a type without unique and default takes them away", () => {
    const unique = { ...newColumn(), name: "x", unique: true, default: "1" };
    expect(withType(unique, "json")).toMatchObject({ unique: false, default: undefined });
    expect(withType(unique, "integer")).toMatchObject({ unique: true, default: undefined });
  });

  test("a default of the wrong type is sent unchanged, so that the service explains the rule", () => {
    const change = tableChangeOf(structuredClone(table) as never, {
      ...copy(),
      columns: [...copy().columns, { ...newColumn(), name: "n", type: "integer", default: "many" }],
    });
    expect(change).toMatchObject({ add: [{ default: "many" }] });
  });
});
