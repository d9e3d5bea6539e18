import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { limits } from "../../../api/limits.ts";
import type { Answer, Running } from "../../harness/service.ts";
import { type Guarded, startGuarded } from "./guarded-service.ts";

const KiB = 1024;
const max = limits.variablesBytesMax;

/** A value that makes the variable `bytes` large; its characters have two bytes each. */
function valueWith(name: string, bytes: number): string {
  const value = "ü".repeat(Math.floor((bytes - name.length) / 2));
  return value.length * 2 + name.length === bytes ? value : `${value}x`;
}

describe("the names and values of a project's variables", () => {
  let guarded: Guarded;
  beforeAll(async () => {
    guarded = await startGuarded();
  });
  afterAll(() => guarded.stop());

  const post = (project: Running, name: string, bytes: number): Promise<Answer> =>
    project.call("POST", `${project.project}/environments`, { body: { name, value: valueWith(name, bytes) } });
  const put = (project: Running, id: string, body: object): Promise<Answer> =>
    project.call("PUT", `${project.project}/environments/${id}`, { body });
  const remove = (project: Running, id: string): Promise<Answer> =>
    project.call("DELETE", `${project.project}/environments/${id}`);
  const refusal = { status: 409, body: { status: "Conflict", code: "variables_too_large" } };

  /** A project with 31 variables of 32 KiB, and one that leaves this many bytes free. */
  async function filled(free: number): Promise<{ project: Running; ids: string[] }> {
    const project = await guarded.newProject();
    const answers = await Promise.all(
      Array.from({ length: 31 }, (_, index) => post(project, `LARGE_${index}`, 32 * KiB)),
    );
    answers.push(await post(project, "LAST", 32 * KiB - free));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    return { project, ids: answers.map(({ body }) => body.environment.id) };
  }

  /** The row of an earlier version that did not count bytes. */
  const forgetBytes = (project: Running, count: number) =>
    guarded.direct.put({ pk: `PRJ#${project.seed.projectId}`, sk: "ENVCOUNT", count });

  test("have 1 MiB together, to the byte, at POST and PUT", async () => {
    const { project, ids } = await filled(10);
    const [id = ""] = ids;
    expect(await post(project, "ELEVEN", 11)).toMatchObject({
      ...refusal,
      body: { ...refusal.body, message: expect.stringContaining(`${max + 1}`) },
    });
    expect((await post(project, "TEN", 10)).status).toBe(201);
    expect(await put(project, id, { name: "LARGE_00" })).toMatchObject(refusal);
    expect(await put(project, id, { value: `${valueWith("LARGE_0", 32 * KiB)}x` })).toMatchObject(refusal);
    expect((await put(project, id, { name: "SMALL_0" })).status).toBe(200);
    expect((await put(project, id, { name: "SHORT" })).status).toBe(200);
    expect((await put(project, id, { name: "LARGE_0" })).status).toBe(200);
    expect(await guarded.broken(project)).toEqual([]);
  });

  test("leave room when one of them is deleted or shortened", async () => {
    const { project, ids } = await filled(0);
    const [first = "", second = ""] = ids;
    expect(await post(project, "MORE", 5)).toMatchObject(refusal);
    expect((await remove(project, first)).status).toBe(200);
    expect((await post(project, "MORE", 32 * KiB)).status).toBe(201);
    expect((await put(project, second, { value: "" })).status).toBe(200);
    expect((await post(project, "AGAIN", 32 * KiB - "LARGE_1".length)).status).toBe(201);
    expect(await post(project, "E", 1)).toMatchObject(refusal);
    expect(await guarded.broken(project)).toEqual([]);
  });

  test("are refused after the number and the name, which both say more", async () => {
    const { project } = await filled(0);
    expect(await post(project, "LAST", 32 * KiB)).toMatchObject({ status: 409, body: { code: "name_taken" } });
  });

  test("stay within it when many are written at once", async () => {
    const { project, ids } = await filled(5 * KiB);
    const [grown = "", other = ""] = ids;
    const answers = await Promise.all([
      ...Array.from({ length: 16 }, (_, index) => post(project, `MORE_${index}`, KiB)),
      put(project, grown, { value: "" }),
      put(project, other, { name: "LARGE_1000" }),
    ]);
    expect(answers.filter(({ status }) => ![200, 201, 409].includes(status))).toEqual([]);
    for (const { status, body } of answers) if (status === 409) expect(body.code).toBe("variables_too_large");
    expect(answers.filter(({ status }) => status === 201).length).toBeGreaterThanOrEqual(4);
    expect(await guarded.broken(project)).toEqual([]);
  });

  describe("of a project that an earlier version left without their size", () => {
    test.each<[string, (project: Running, id: string) => Promise<Answer>, number]>([
      ["POST", (project) => post(project, "NEW", 100), 201],
      ["PUT", (project, id) => put(project, id, { value: "longer than before" }), 200],
      ["PUT that shortens", (project, id) => put(project, id, { value: "" }), 200],
      ["DELETE", (project, id) => remove(project, id), 200],
    ])("are counted by the first %s", async (_, request, status) => {
      const project = await guarded.newProject();
      const made = await post(project, "OLD", 20);
      await forgetBytes(project, 1);
      expect((await request(project, made.body.environment.id)).status).toBe(status);
      expect(await guarded.broken(project)).toEqual([]);
    });

    test("are limited like all others, however many writers find them so", async () => {
      const { project, ids } = await filled(3 * KiB);
      await forgetBytes(project, 32);
      const answers = await Promise.all([
        ...Array.from({ length: 12 }, (_, index) => post(project, `MORE_${index}`, KiB)),
        remove(project, ids[31] ?? ""),
        put(project, ids[30] ?? "", { value: "" }),
      ]);
      expect(answers.filter(({ status }) => ![200, 201, 409].includes(status))).toEqual([]);
      expect(answers.slice(-2).map(({ status }) => status)).toEqual([200, 200]);
      expect(await guarded.broken(project)).toEqual([]);
    });

    test("may be more than the limit, and then only get smaller", async () => {
      const { project, ids } = await filled(0);
      const [id = "", other = ""] = ids;
      const rows = await guarded.direct.rowsOf(project.seed.projectId);
      const row = rows.find(({ sk }) => sk === `ENV#${id}`);
      await guarded.direct.put({ pk: "", sk: "", ...row, value: "x".repeat(40 * KiB) });
      await forgetBytes(project, 32);
      expect(await post(project, "MORE", 5)).toMatchObject(refusal);
      expect((await put(project, id, { value: "y".repeat(32 * KiB) })).status).toBe(200);
      expect(await put(project, other, { name: "LARGE_1_LONGER" })).toMatchObject(refusal);
      expect((await remove(project, id)).status).toBe(200);
      expect((await post(project, "MORE", 5)).status).toBe(201);
      expect(await guarded.broken(project)).toEqual([]);
    });
  });
});
