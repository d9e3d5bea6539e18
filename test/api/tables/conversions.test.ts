import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { conversion } from "../../../lambdas/tables/model/conversion.ts";
import { innerNames } from "../../../lambdas/tables/model/inner-names.ts";
import { castTypes, compile } from "../../../lambdas/tables/model/sql.ts";
import { cpuTimer } from "../../harness/cpu-time.ts";
import { fc } from "../../harness/fast-check.ts";
import { compareWithModel } from "./change-sequences.ts";
import { startTables, type Tables } from "./fixture.ts";
import { Conflict, converted, isLosslessJson, type Type, type Value } from "./value-model.ts";

let t: Tables;
beforeAll(async () => {
  t = await startTables();
  await t.given("first", []);
}, 120_000);
afterAll(() => t.stop());

const types: Type[] = ["string", "text", "integer", "float", "boolean", "date", "json"];

const number = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.maxSafeInteger(), fc.integer());
const digits = fc
  .tuple(
    fc.constantFrom("", "-"),
    fc.bigInt({ min: 0n, max: 10n ** 22n }),
    fc.constantFrom("", ".0", ".5", ".10", ".000000000000000000001"),
    fc.constantFrom("", "e5", "E-3", "e+22", "e400", "e-400", "e05", "e22", "e23"),
  )
  .map((parts) => parts.join(""));
const millis = fc.date({
  min: new Date("0001-01-01Z"),
  max: new Date("9999-12-31T23:59:59.999Z"),
  noInvalidDate: true,
});
const day = fc
  .tuple(fc.integer({ min: 0, max: 10_000 }), fc.integer({ min: 0, max: 13 }), fc.integer({ min: 0, max: 32 }))
  .map(([y, m, d]) => `${String(y).padStart(4, "0")}-${String(m).padStart(2, "0")}-${String(d).padStart(2, "0")}`);
const clock = fc.constantFrom("", "T00:00:00Z", "T23:59:59.999+15:59", "T12:00:00.5-08:30", "T24:00:00Z", "T1:00:00Z");
const instant = fc.oneof(
  millis.map((one) => one.toISOString()),
  fc.tuple(day, clock).map((parts) => parts.join("")),
);
const key = fc.constantFrom("a", "b", "\\u0061", "\\u0000", "\\ud800", "\\ud83d\\ude00", "😀", "\\\\", "\\\\u0061", "");
const json: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(
      "true",
      "null",
      '"[{"',
      '"\\"1e400"',
      '"\\u0000"',
      '"2026-11-20"',
      '"2026\\u002d11-20"',
      " 7 ",
      "1.0",
    ),
    digits,
    instant.map((one) => JSON.stringify(one)),
    fc.array(tie("value"), { maxLength: 3 }).map((items) => `[${items.join(" , ")}]`),
    fc
      .array(fc.tuple(key, tie("value")), { maxLength: 3 })
      .map((members) => `{${members.map(([name, value]) => `"${name}" : ${value}`).join()}}`),
  ),
})).value;
const nested = fc.integer({ min: 254, max: 258 }).map((depth) => `${"[".repeat(depth)}1${"]".repeat(depth)}`);
const text = fc.oneof(
  digits,
  number.map(String),
  instant,
  json,
  nested,
  fc.constantFrom(
    "",
    " 1",
    "true",
    "TRUE",
    "null",
    " null ",
    "\ufeff1",
    "NaN",
    "Infinity",
    "0x10",
    "1_000",
    "[",
    '"',
    "\\",
  ),
  fc.string({ unit: "grapheme", maxLength: 300 }).filter((one) => !one.includes("\u0000")),
);
const values: Record<Type, fc.Arbitrary<Value>> = {
  string: text.filter((one) => [...one].length <= 255),
  text,
  integer: fc.oneof(fc.integer({ min: -2, max: 2 }), fc.maxSafeInteger()),
  float: fc.oneof(fc.constantFrom(0, 1, 1e15, 1e21, 1e-6, 1e-7), number).map((one) => one + 0),
  boolean: fc.boolean(),
  date: millis.map((one) => one.toISOString()),
  json: fc.oneof(json, nested, number.map(String)).filter(isLosslessJson),
};

function expected(value: Value, from: Type, to: Type): Value | "refused" {
  try {
    return converted(value, from, to);
  } catch (error) {
    if (error instanceof Conflict) return "refused";
    throw error;
  }
}

/** PostgreSQL's conversions of the values, all in one statement. */
async function actual(given: Value[], from: Type, to: Type): Promise<(Value | "refused")[]> {
  const rows = sql.join(given.map((value, index) => sql`(${sql.lit(index)}, ${sql.lit(String(value))})`));
  const change = conversion(t.schema, sql`v`, from, to);
  const after = sql`cast(cast(${change.to} as ${castTypes[to]}) as text)`;
  const shown = to === "date" ? sql`to_json(cast(${change.to} as timestamptz))` : sql`to_json(${after})`;
  const statement = sql`
    select case when (${change.fits}) is true then cast(${shown} as text) else 'refused' end
    from (select place, cast(text as ${castTypes[from]}) as v from (values ${rows}) as given(place, text)) as typed
    order by place`;
  const answers = await t.rds.sql(compile(statement).sql);
  return answers.map(([answer]) => {
    if (answer === "refused") return "refused";
    const value: string = JSON.parse(String(answer));
    if (to === "integer" || to === "float") return Number(value);
    if (to === "boolean") return value === "true";
    return to === "date" ? new Date(value).toISOString() : value;
  });
}

const pairs = types.flatMap((from) => types.filter((to) => to !== from).map((to): [Type, Type] => [from, to]));

test.each(pairs)("any %s becomes a %s whole, or is refused", async (from, to) => {
  const given = fc.sample(values[from], { numRuns: 120 });
  const outcomes = await actual(given, from, to);
  const wanted = given.map((value) => expected(value, from, to));
  const wrong = given.flatMap((value, index) =>
    Object.is(outcomes[index], wanted[index]) || (outcomes[index] === 0 && wanted[index] === 0)
      ? []
      : [{ value, is: outcomes[index], wanted: wanted[index] }],
  );
  expect(wrong).toEqual([]);
});

test.each(["1e-400", "-1e400", "1e999999999", "x"])(
  "%s is no float, also as the first value that is checked",
  async (number) => {
    const judged = sql`select cast(${sql.id(t.schema, innerNames.floatFits)}(${sql.lit(number)}) as text)`;
    // A statement of its own each time, so that PostgreSQL plans the function anew.
    await t.rds.sql("discard plans");
    expect(await t.rds.sql(compile(judged).sql)).toEqual([["false"]]);
  },
);

describe("a text that is not JSON whole", () => {
  const brackets = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
  test.each([
    ["nested 257 levels deep", brackets(257)],
    ["nested 3,000 levels deep", brackets(3_000)],
    ["nested 195,000 levels deep", brackets(195_000)],
    ["only opened", "[".repeat(390_000)],
    ["objects in objects", `${'{"a":'.repeat(300)}1${"}".repeat(300)}`],
    ["rounded to nothing", "1e400"],
    ["rounded", '{"a":[12345678901234567890]}'],
    ["a key twice", '{"a":{"b":1,"b":2}}'],
    ["a key twice, once with an escape", '{"a":1,"\\u0061":2}'],
    ["a number of 390,000 digits", "1".repeat(390_000)],
    ["backslashes", `"${"\\".repeat(190_000)}`],
  ])("(%s) stays text, and the table can be read", async (_, hostile) => {
    await t.given("hostile", [{ name: "v", type: "text" }], [{ v: "[1]" }, { v: hostile }]);
    const spent = cpuTimer();
    const answer = await t.tables("PUT", "/hostile", { modify: [{ name: "v", type: "json" }] });
    expect([answer.status, answer.body.code, answer.body.row]).toEqual([409, "data_conflict", 2]);
    expect(spent()).toBeLessThan(10_000);
    const { status, body } = await t.tables("GET", "/hostile/rows");
    expect([status, body.rows.map(({ v }: { v: string }) => v)]).toEqual([200, ["[1]", hostile]]);
    await t.tables("DELETE", "/hostile");
  });

  it("of 256 levels, any characters and exact numbers becomes json", async () => {
    const whole = [
      '{"\\u0000":"\\ud800","😀":[1e21,0.10,-5]}',
      brackets(256),
      ' "\\u0000\\\\u0000" ',
      "9007199254740992",
    ];
    await t.given(
      "whole",
      [{ name: "v", type: "text" }],
      whole.map((v) => ({ v })),
    );
    expect((await t.tables("PUT", "/whole", { modify: [{ name: "v", type: "json" }] })).status).toBe(200);
    const { rows } = (await t.tables("GET", "/whole/rows")).body;
    expect(rows.map(({ v }: { v: unknown }) => v)).toEqual(whole.map((one) => JSON.parse(one)));
    expect((await t.tables("PUT", "/whole", { modify: [{ name: "v", type: "text" }] })).status).toBe(200);
    const again = (await t.tables("GET", "/whole/rows")).body.rows;
    expect(again.map(({ v }: { v: unknown }) => v)).toEqual(whole);
  });
});

describe("a json value of a request", () => {
  test.each([
    ["[1e400]", "rounding"],
    ["12345678901234567890", "rounding"],
    ['{"a":0.12345678901234567890}', "rounding"],
    ['{"a":1,"b":{"c":1,"c":1}}', "twice"],
    ['{"a":1,"\\u0061":1}', "twice"],
    [`${"[".repeat(257)}${"]".repeat(257)}`, "deeper than 256"],
    [`${"[".repeat(400_000)}${"]".repeat(400_000)}`, "deeper than 256"],
  ])("that JavaScript cannot hold whole is refused, naming column and rule: %#", async (json, rule) => {
    await t.given("asked", [{ name: "j", type: "json" }], [{ j: [1] }]);
    const text = `{"row":{"j":${json}}}`;
    for (const [method, path] of [
      ["POST", "/asked/rows"],
      ["PUT", "/asked/rows/1"],
    ] as const) {
      const answer = await t.tables(method, path, undefined, { text });
      expect([answer.status, answer.body.issues?.[0].path]).toEqual([400, "row.j"]);
      expect(answer.body.issues[0].message).toContain(rule);
    }
    expect((await t.tables("GET", "/asked/rows")).body.rows).toMatchObject([{ id: 1, j: [1] }]);
    await t.tables("DELETE", "/asked");
  });

  it("may hold a key again in another object, and any number that is exact", async () => {
    await t.given("exact", [
      { name: "j", type: "json" },
      { name: "i", type: "integer" },
    ]);
    const text = '{"row":{"i":1.0e1,"j":[{"a":9007199254740992},{"a":1e21,"b":0.1}]}}';
    const { body } = await t.tables("POST", "/exact/rows", undefined, { text });
    expect(body.row).toMatchObject({ i: 10, j: [{ a: 9007199254740992 }, { a: 1e21, b: 0.1 }] });
    const almost = await t.tables("POST", "/exact/rows", undefined, { text: '{"row":{"i":1.00000000000000000001}}' });
    expect([almost.status, almost.body.issues?.[0].path]).toEqual([400, "row.i"]);
  });
});

test("after any sequence of changes a table equals its model, and a refused change has no effect", async () => {
  await compareWithModel(t);
}, 120_000);
