import { describe, expect, it, test } from "vitest";
import { createTable, now, nowOnUpdate, type TableChange, tableLimits, updateTable } from "../../../../api/tables.ts";
import { planChange } from "../../../../lambdas/tables/model/change.ts";
import { missingColumn } from "../../../../lambdas/tables/model/change-names.ts";
import {
  allColumns,
  type Column,
  type Definition,
  definitionSchema,
  tableReply,
} from "../../../../lambdas/tables/model/definition.ts";
import { ownStates } from "../../../../lambdas/tables/model/inner-names.ts";
import { changeStatements, createStatements, dropStatements } from "../../../../lambdas/tables/model/statements.ts";
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
    [{ order: ["a", "c", "b"] }, ["Order the columns: a, c, b"]],
    [{ comment: "x" }, ["Set the comment of the table"]],
    [{ modify: [{ name: "a", nullable: false }] }, ["Require a value in column a"]],
    [{ modify: [{ name: "a", unique: true }] }, ["Require the values of column a to be unique"]],
    [{ modify: [{ name: "a", default: 7 }] }, ["Set the default of column a to 7"]],
    [{ modify: [{ name: "b", default: "y" }] }, ['Set the default of column b to "y"']],
    [
      { add: [{ name: "d", type: "string", nullable: false, unique: true, default: "x", comment: "" }] },
      ['Add column d (string, required, unique, default "x")'],
    ],
    [
      { add: [{ name: "d", type: "date", default: nowOnUpdate }] },
      ['Add column d (date, default "CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP")'],
    ],
  ];
  test.each(words)("%j says %j", (fields, expected) => {
    expect(planned(fields).steps.flatMap(wordsOf)).toEqual(expected);
  });

  test("what is set to null is removed", () => {
    const told = { ...table, comment: "old", columns: [column("a", { comment: "old", nullable: false })] };
    const plan = planChange(
      told,
      change({ comment: null, modify: [{ name: "a", comment: null, nullable: true }] }),
      newName,
    );
    if ("refusal" in plan) throw new Error("It is refused");
    expect(plan.steps.flatMap(wordsOf)).toEqual([
      "Allow null in column a",
      "Remove the comment of column a",
      "Remove the comment of the table",
    ]);
    expect(plan.definition).toEqual({ ...table, columns: [column("a")] });
  });

  it("is destructive when it drops a column, and only then", () => {
    expect(isDestructive(planned({ drop: ["a"] }).steps)).toBe(true);
    expect(isDestructive(planned({ drop: ["a"], comment: "x" }).steps)).toBe(true);
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
    [{ rename: [{ from: "z", to: "d" }] }, { kind: "missing", path: "rename.0.from", name: "z" }],
    [
      { rename: [{ from: "a", to: "d" }], order: ["d", "b", "a"] },
      { kind: "missing", path: "order.2", name: "a" },
    ],
    [
      { order: ["c", "a"] },
      {
        kind: "invalid",
        issues: [{ path: "order", message: "must name each of the table's own columns once; missing: b" }],
      },
    ],
    [
      { order: ["c"] },
      {
        kind: "invalid",
        issues: [{ path: "order", message: "must name each of the table's own columns once; missing: a, b" }],
      },
    ],
  ])("refuses %j", (fields, refusal) => {
    expect(plan(fields)).toEqual({ refusal });
  });

  it("finds the names in a change that breaks other rules", () => {
    const found = (fields: unknown) => missingColumn(table.columns, fields);
    expect(found({ drop: [5, "z"] })).toEqual({ name: "z", path: "drop.1" });
    expect(found({ drop: "z", rename: [null, { from: "z" }] })).toEqual({ name: "z", path: "rename.1.from" });
    expect(found({ modify: ["z", { name: "z" }] })).toEqual({ name: "z", path: "modify.1.name" });
    expect(found({ add: [{}, "x", { name: "d" }], order: ["d", "z"] })).toEqual({ name: "z", path: "order.1" });
    expect(found({ rename: [{ from: "a", to: "d" }, { from: "b" }], order: ["d"] })).toBeUndefined();
    for (const name of ["id", "no name", "", 7, null]) expect(found({ drop: [name] })).toBeUndefined();
    for (const fields of [null, undefined, "x", {}, { drop: [] }]) expect(found(fields)).toBeUndefined();
  });

  it("gives a new constraint to a column that becomes unique, and keeps that of one that is", () => {
    const constraintOf = (name: string, unique: boolean) =>
      planned({ modify: [{ name, unique }] }).definition.columns.find((one) => one.name === name)?.constraint;
    expect(constraintOf("a", true)).toBe("$new");
    expect(constraintOf("b", true)).toBe("$b");
    expect(constraintOf("b", false)).toBeNull();
    const { definition } = planned({
      add: [
        { name: "d", type: "string", unique: true },
        { name: "e", type: "text" },
      ],
    });
    expect(definition.columns.slice(3).map(({ constraint }) => constraint)).toEqual(["$new", null]);
  });

  it("says of each step which field asks for it", () => {
    const told = { ...table, columns: [...table.columns, column("d", { type: "date", default: nowOnUpdate })] };
    const fields = {
      drop: ["d"],
      rename: [{ from: "c", to: "e" }],
      modify: [
        { name: "a", type: "float", nullable: false, unique: true, default: 1.5, comment: "x" },
        { name: "b", unique: false },
      ],
      add: [{ name: "f", type: "text" }],
      order: ["f", "e", "b", "a"],
      comment: "x",
    };
    const plan = planChange(told, change(fields), newName);
    if ("refusal" in plan) throw new Error("It is refused");
    expect(plan.steps.map(({ do: what, path }) => [what, path])).toEqual([
      ["drop column", "drop.0"],
      ["rename columns", "rename"],
      ["convert", "modify.0.type"],
      ["set default", "modify.0.default"],
      ["set nullable", "modify.0.nullable"],
      ["add unique", "modify.0.unique"],
      ["comment column", "modify.0.comment"],
      ["drop unique", "modify.1.unique"],
      ["add column", "add.0"],
      ["order", "order"],
      ["comment table", "comment"],
      ["set on update", ""],
    ]);
  });

  it("keeps the constraint of a column through its rename", () => {
    const { definition } = planned({ rename: [{ from: "b", to: "d" }] });
    expect(definition.columns[1]).toMatchObject({ name: "d", unique: true, constraint: "$b" });
  });

  it("may hold as many columns as the limit says, and not one more", () => {
    const add = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `n${index}`, type: "text" }));
    expect("refusal" in plan({ add: add(tableLimits.columnsMax - 3) })).toBe(false);
    const message = `must leave the table with at most ${tableLimits.columnsMax} columns`;
    expect(plan({ add: add(tableLimits.columnsMax - 2) })).toEqual({
      refusal: { kind: "invalid", issues: [{ path: "add", message }] },
    });
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

  const t = '"s"."t"';
  const flat = (text: string) => text.replaceAll(/\s+/g, " ");
  const bodies = (fields: object) =>
    changeStatements("s", "t", planned(fields))
      .map((one) => flat(one.sql))
      .slice(1);

  it("create a table with its columns, its trigger and its comments", () => {
    const definition = {
      name: "t",
      comment: "all",
      columns: [
        column("a", { nullable: false, default: 7 }),
        column("b", { type: "date", default: nowOnUpdate, comment: "when" }),
        column("c", { type: "string", unique: true, constraint: "$c" }),
      ],
    };
    const statements = createStatements("s", definition, newName);
    expect(statements.map((one) => one.path)).toEqual(["", "", "comment", "columns"]);
    expect(statements.map((one) => flat(one.sql))).toEqual([
      `create table ${t} (id bigint generated always as identity (sequence name "s"."$new") constraint "$new" primary key, "a" bigint not null default 7, "b" timestamptz(3) default current_timestamp, "c" varchar(255) constraint "$c" unique, created_at timestamptz(3) not null default current_timestamp, updated_at timestamptz(3) not null default current_timestamp)`,
      expect.stringContaining(`before insert or update on ${t} for each row execute function`),
      `comment on table ${t} is 'all'`,
      `comment on column ${t}."b" is 'when'`,
    ]);
    expect(flat(statements[1]?.sql ?? "")).toMatch(/\('b'\)$/);
    expect(createStatements("s", { ...definition, comment: null, columns: [] }, newName)).toHaveLength(2);
  });

  test.each<[fields: object, statements: string[]]>([
    [{ drop: ["a"] }, [`alter table ${t} drop column "a"`]],
    [{ modify: [{ name: "a", nullable: false }] }, [`alter table ${t} alter column "a" set not null`]],
    [{ modify: [{ name: "a", unique: true }] }, [`alter table ${t} add constraint "$new" unique ("a")`]],
    [{ modify: [{ name: "b", unique: false }] }, [`alter table ${t} drop constraint "$b"`]],
    [{ modify: [{ name: "b", default: null }] }, [`alter table ${t} alter column "b" drop default`]],
    [{ modify: [{ name: "b", default: "y" }] }, [`alter table ${t} alter column "b" set default 'y'`]],
    [{ modify: [{ name: "a", comment: "x" }] }, [`comment on column ${t}."a" is 'x'`]],
    [{ comment: "x" }, [`comment on table ${t} is 'x'`]],
    [
      { add: [{ name: "d", type: "integer", comment: "x" }] },
      [`alter table ${t} add column "d" bigint`, `comment on column ${t}."d" is 'x'`],
    ],
    [{ rename: [{ from: "a", to: "d" }] }, [`alter table ${t} rename column "a" to "d"`]],
    [
      {
        rename: [
          { from: "a", to: "c" },
          { from: "c", to: "a" },
        ],
      },
      [
        `alter table ${t} rename column "a" to "$0"`,
        `alter table ${t} rename column "c" to "$1"`,
        `alter table ${t} rename column "$0" to "c"`,
        `alter table ${t} rename column "$1" to "a"`,
      ],
    ],
  ])("of %j", (fields, statements) => {
    expect(bodies(fields)).toEqual(statements);
  });

  it("rename through other names as soon as one new name is an old one, and allow null again", () => {
    const renames = [
      { from: "a", to: "c" },
      { from: "c", to: "d" },
    ];
    expect(bodies({ rename: renames })).toHaveLength(4);
    const required = { ...table, columns: [column("a", { nullable: false })] };
    const plan = planChange(required, change({ modify: [{ name: "a", nullable: true }] }), newName);
    const statements = "steps" in plan ? changeStatements("s", "t", plan) : [];
    expect(statements.at(-1)?.sql).toBe(`alter table ${t} alter column "a" drop not null`);
    expect(bodies({ modify: [{ name: "a", type: "text" }] })[2]).toMatch(/ using cast\(.*"a".* as text\)$/);
  });

  it("of a conversion check every value first, and give the new type its default again", () => {
    const [check, drop, convert, standard, ...rest] = bodies({
      modify: [{ name: "b", type: "date", default: now, unique: false }],
    }).slice(1);
    expect(check).toMatch(/^select id from "s"\."t" where "b" is not null and \(.*\) is not true limit 1$/);
    expect(drop).toBe(`alter table ${t} alter column "b" drop default`);
    expect(convert).toMatch(
      /^alter table "s"\."t" alter column "b" type timestamptz\(3\) using cast\(.* as timestamptz\(3\)\)$/,
    );
    expect(standard).toBe(`alter table ${t} alter column "b" set default current_timestamp`);
    expect(rest).toHaveLength(1);
    expect(bodies({ modify: [{ name: "a", type: "float" }] })).toHaveLength(3);
  });

  it("set the columns of the trigger anew when these change, and only then", () => {
    const dated = { name: "d", type: "date", default: nowOnUpdate };
    const statements = bodies({ add: [dated] });
    expect(statements).toHaveLength(3);
    expect(statements[1]).toMatch(/^drop trigger "[^"]+" on "s"\."t"$/);
    expect(statements[2]).toMatch(/^create trigger .*\('d'\)$/);
    const two = {
      ...table,
      columns: [
        column("a", { type: "date", default: nowOnUpdate }),
        column("b", { type: "date", default: nowOnUpdate }),
      ],
    };
    const plan = planChange(two, change({ order: ["b", "a"] }), newName);
    expect("steps" in plan && plan.steps.map((step) => step.do)).toEqual(["order"]);
  });

  it("look for rows that have become too large where a row can: with a text or json column, after it has grown", () => {
    const checked = (columns: Column[], fields: object) => {
      const plan = planChange({ ...table, columns }, change(fields), newName);
      if ("refusal" in plan) throw new Error("It is refused");
      return changeStatements("s", "t", plan).flatMap((one) => (one.check ? [[one.path, flat(one.sql)]] : []));
    };
    const sql = `select "$r".id from ${t} as "$r" where octet_length(cast(row_to_json("$r") as text)) > ${tableLimits.rowBytesMax} limit 1`;
    const rename = { rename: [{ from: "a", to: "d" }] };
    const add = { add: [{ name: "e", type: "integer" }] };
    for (const type of ["text", "json"] as const) {
      const columns = [column("a", { type }), column("b")];
      expect(checked(columns, rename)).toEqual([["rename", sql]]);
      expect(checked(columns, add)).toEqual([["add.0", sql]]);
      expect(checked(columns, { ...rename, ...add })).toEqual([["", sql]]);
      expect(checked(columns, { drop: ["b"] })).toEqual([]);
    }
    expect(checked([column("a")], { ...rename, ...add })).toEqual([]);
  });

  it("of a dropped table are one", () => {
    expect(dropStatements("s", "t")).toEqual([{ sql: `drop table ${t}`, path: "", check: false }]);
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
    const managed = { nullable: false, unique: false, comment: null };
    expect(columns[0]).toEqual({ ...managed, name: "id", type: "integer", unique: true, default: null });
    expect(columns.slice(-2)).toEqual([
      { ...managed, name: "created_at", type: "date", default: now },
      { ...managed, name: "updated_at", type: "date", default: nowOnUpdate },
    ]);
    expect(tableReply({ ...table, comment: "x" })).toEqual({ name: "t", comment: "x", columns });
    expect(definitionSchema.parse(table)).toEqual(table);
    expect(definitionSchema.safeParse({ ...table, columns: [{ ...table.columns[0], default: {} }] }).success).toBe(
      false,
    );
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
