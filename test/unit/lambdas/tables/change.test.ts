import { describe, expect, it, test } from "vitest";
import { createTable, type TableChange, tableLimits, updateTable } from "../../../../api/tables.ts";
import { planChange } from "../../../../lambdas/tables/model/change.ts";
import { allColumns, type Column, type Definition } from "../../../../lambdas/tables/model/definition.ts";
import { ownStates } from "../../../../lambdas/tables/model/inner-names.ts";
import { changeStatements, createStatements } from "../../../../lambdas/tables/model/statements.ts";
import { isDestructive, wordsOf } from "../../../../lambdas/tables/model/steps.ts";

const column = (name: string, more: Partial<Column> = {}): Column => ({
  name,
  type: "integer",
  nullable: true,
  unique: false,
  default: null,
  comment: null,
  constraint: null,
  ...more,
});
const table: Definition = {
  name: "t",
  comment: null,
  columns: [column("a"), column("b", { type: "string", unique: true, constraint: "$b", default: "x" }), column("c")],
};

const newName = () => "$new";
const change = (fields: object): TableChange => updateTable.definition.body.parse(fields);
const plan = (fields: object) => planChange(table, change(fields), newName);

function planned(fields: object) {
  const result = plan(fields);
  if ("refusal" in result) throw new Error(JSON.stringify(result.refusal));
  return result;
}

describe("a planned change", () => {
  const words: [fields: object, plan: string[]][] = [
    [{}, []],
    [{ rename: [{ from: "a", to: "a" }] }, []],
    [{ modify: [{ name: "a" }] }, []],
    [{ modify: [{ name: "a", nullable: true, unique: false, default: null, comment: null, type: "integer" }] }, []],
    [{ order: ["a", "b", "c"] }, []],
    [{ comment: null }, []],
    [{ drop: ["a"] }, ["Drop column a and every value in it"]],
    [{ rename: [{ from: "a", to: "A" }] }, ["Rename column a to A"]],
    [
      {
        rename: [
          { from: "a", to: "c" },
          { from: "c", to: "a" },
        ],
      },
      ["Rename column a to c", "Rename column c to a"],
    ],
    [{ modify: [{ name: "b", unique: false }] }, ["Allow equal values in column b"]],
    [{ modify: [{ name: "b", default: null }] }, ["Remove the default of column b"]],
    [
      { modify: [{ name: "b", type: "text", unique: false, default: null }] },
      ["Allow equal values in column b", "Convert column b from string to text", "Remove the default of column b"],
    ],
    [{ modify: [{ name: "a", type: "float" }] }, ["Convert column a from integer to float"]],
    [{ modify: [{ name: "a", comment: "" }] }, ["Set the comment of column a"]],
    [{ add: [{ name: "d", type: "json" }] }, ["Add column d (json)"]],
    [
      { drop: ["a"], add: [{ name: "A", type: "text" }] },
      ["Drop column a and every value in it", "Add column A (text)"],
    ],
    [{ order: ["c", "a", "b"] }, ["Order the columns: c, a, b"]],
    [{ comment: "x" }, ["Set the comment of the table"]],
  ];
  test.each(words)("%j says %j", (fields, expected) => {
    expect(planned(fields).steps.flatMap(wordsOf)).toEqual(expected);
  });

  it("is destructive when it drops a column, and only then", () => {
    expect(isDestructive(planned({ drop: ["a"] }).steps)).toBe(true);
    expect(isDestructive(planned({ modify: [{ name: "a", type: "float" }], comment: "x" }).steps)).toBe(false);
  });

  it("validates a column as a whole, not field by field", () => {
    expect(plan({ modify: [{ name: "b", type: "text" }] })).toEqual({
      refusal: {
        kind: "invalid",
        issues: [
          { path: "modify.0.unique", message: "is not possible on a text column" },
          { path: "modify.0.default", message: "is not possible on a text column" },
        ],
      },
    });
    expect("refusal" in plan({ modify: [{ name: "b", type: "text", unique: false, default: null }] })).toBe(false);
  });

  test.each([
    [{ drop: ["z"] }, { kind: "missing", path: "drop.0", name: "z" }],
    [{ drop: ["A"] }, { kind: "missing", path: "drop.0", name: "A" }],
    [
      { drop: ["a"], order: ["b", "c", "a"] },
      { kind: "missing", path: "order.2", name: "a" },
    ],
    [{ rename: [{ from: "a", to: "B" }] }, { kind: "exists", path: "rename.0.to", name: "B" }],
    [
      { rename: [{ from: "a", to: "d" }], modify: [{ name: "a" }] },
      { kind: "missing", path: "modify.0.name", name: "a" },
    ],
    [{ add: [{ name: "C", type: "text" }] }, { kind: "exists", path: "add.0.name", name: "C" }],
  ])("refuses %j", (fields, refusal) => {
    expect(plan(fields)).toEqual({ refusal });
  });

  it("keeps the constraint of a column through its rename", () => {
    const { definition } = planned({ rename: [{ from: "b", to: "d" }] });
    expect(definition.columns[1]).toMatchObject({ name: "d", unique: true, constraint: "$b" });
  });

  it("may hold as many columns as the limit says, and not one more", () => {
    const add = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `n${index}`, type: "text" }));
    expect("refusal" in plan({ add: add(tableLimits.columnsMax - 3) })).toBe(false);
    expect(plan({ add: add(tableLimits.columnsMax - 2) })).toMatchObject({ refusal: { issues: [{ path: "add" }] } });
    expect("refusal" in plan({ drop: ["a"], add: add(tableLimits.columnsMax - 2) })).toBe(false);
  });
});

describe("its statements", () => {
  it("quote every name and value, with any content", () => {
    const hostile: Definition = {
      name: "select",
      comment: "it's; drop table x; --\\",
      columns: [column('a"b', { type: "string", default: "'; --\\", comment: "O'Brien" })],
    };
    const sql = createStatements('s"x', hostile, newName).map((one) => one.sql);
    expect(sql.join("\n")).toContain('"s""x"."select"');
    expect(sql.join("\n")).toContain(`"a""b" varchar(255) default '''; --\\'`);
    expect(sql.join("\n")).toContain(`is 'it''s; drop table x; --\\'`);
  });

  it("never touch a name that PostgreSQL keeps for itself", () => {
    const plan = planned({ rename: [{ from: "a", to: "xmin" }], add: [{ name: "ctid", type: "text" }] });
    const sql = changeStatements("s", "t", plan).map((one) => one.sql);
    expect(sql).toContain('alter table "s"."t" rename column "a" to "xmin$"');
    expect(sql).toContain('alter table "s"."t" add column "ctid$" text');
  });

  it("hold the table from first to last, and are none when only the catalog changes", () => {
    expect(changeStatements("s", "t", planned({ drop: ["a"] }))[0]?.sql).toMatch(/^lock table "s"\."t" in access/);
    expect(changeStatements("s", "t", planned({ order: ["c", "b", "a"] }))).toEqual([]);
  });

  it("say of which field of the request each of them comes", () => {
    const plan = planned({
      drop: ["c"],
      modify: [
        { name: "b", comment: "x" },
        { name: "a", type: "text" },
      ],
    });
    const statements = changeStatements("s", "t", plan);
    expect([...new Set(statements.map((one) => one.path))]).toEqual([
      "",
      "drop.0",
      "modify.0.comment",
      "modify.1.type",
    ]);
    expect(statements.flatMap((one) => (one.check ? [[one.state, one.path]] : []))).toEqual([
      [ownStates.valueInTheWay, "modify.1.type"],
      [ownStates.rowTooLarge, "modify.1.type"],
    ]);
  });
});

describe("a definition", () => {
  it("are between the managed columns, with six fields each", () => {
    const columns = allColumns(table);
    expect(columns.map((one) => one.name)).toEqual(["id", "a", "b", "c", "created_at", "updated_at"]);
    for (const one of columns) {
      expect(Object.keys(one)).toEqual(["name", "type", "nullable", "unique", "default", "comment"]);
    }
  });

  it("takes nullable, not unique, no default and no comment for what is not said", () => {
    const body = createTable.definition.body.parse({ name: "t", columns: [{ name: "a", type: "text" }] });
    const { constraint: _, ...rest } = column("a", { type: "text" });
    expect(body).toEqual({ name: "t", comment: null, columns: [rest] });
  });
});
