import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { upload } from "../../harness/app.ts";
import { type Running, startRunning } from "../../harness/service.ts";

let running: Running;
let files: string;
beforeAll(async () => {
  running = await startRunning();
  files = `/organizations/${running.seed.organizationId}/storages/${running.seed.storageId}/files`;
});
afterAll(() => running.stop());

const good = { name: "a.txt", mime: "text/plain" };
const many = (count: number) => Array.from({ length: count }, (_, index) => ({ ...good, name: `${index}` }));
const prepare = (wanted: unknown, headers: Record<string, string> = {}) =>
  running.call("POST", files, { body: { files: wanted }, headers });
const count = async () => {
  let cursor = "";
  let total = 0;
  do {
    const { body } = await running.call("GET", `${files}?limit=200${cursor}`);
    total += body.files.length;
    cursor = body.nextCursor === null ? "" : `&cursor=${body.nextCursor}`;
  } while (cursor !== "");
  return total;
};

describe("preparing files", () => {
  test("answers 201 with pending entries and an address each, in the order as sent", async () => {
    const before = new Date().toISOString();
    const answer = await prepare([good, { name: "b.png", mime: "image/png" }]);
    expect(answer.status).toBe(201);
    const [first, second] = answer.body.files;
    expect(first).toEqual({
      id: expect.stringMatching(/^fil_/),
      name: "a.txt",
      path: first.id,
      mime: "text/plain",
      size: 0,
      status: "pending",
      error: null,
      createdAt: expect.any(String),
      updatedAt: first.createdAt,
      url: expect.stringMatching(/^http/),
      expiresAt: expect.any(String),
    });
    expect(second).toMatchObject({ name: "b.png", mime: "image/png" });
    expect(first.createdAt >= before).toBe(true);
    const validSeconds = (Date.parse(first.expiresAt) - Date.parse(first.createdAt)) / 1000;
    expect(validSeconds).toBeGreaterThan(3598.9);
    expect(validSeconds).toBeLessThanOrEqual(3600);
  });

  test.each([
    ["no list", undefined, ["files"]],
    ["no file", [], ["files"]],
    ["101 files", many(101), ["files"]],
    ["an entry that is not an object", [good, 7], ["files.1"]],
    ["missing fields", [{}], ["files.0.name", "files.0.mime"]],
    ["an empty name", [good, good, good, { ...good, name: "" }], ["files.3.name"]],
    ["a name of 129 emoji", [{ ...good, name: "🦊".repeat(129) }], ["files.0.name"]],
    ["half an emoji", [{ ...good, name: "\ud83e" }], ["files.0.name"]],
    ["a mime without slash", [{ ...good, mime: "text" }], ["files.0.mime"]],
    ["a mime of 256 characters", [{ ...good, mime: `a/${"b".repeat(254)}` }], ["files.0.mime"]],
    ["a mime that ends its header", [{ ...good, mime: "text/plain\r\nx-amz-acl: public-read" }], ["files.0.mime"]],
    ["a mime with NUL", [{ ...good, mime: "text/\u0000" }], ["files.0.mime"]],
    ["a mime with DEL", [{ ...good, mime: "text/\u007f" }], ["files.0.mime"]],
    [
      "several broken rules",
      [{ name: "", mime: "x" }, good, { name: "x", mime: "\n" }],
      ["files.0.name", "files.0.mime", "files.2.mime", "files.2.mime"],
    ],
  ])("is refused with 400 for %s, every broken rule named, and makes nothing", async (_, wanted, paths) => {
    const before = await count();
    const answer = await prepare(wanted);
    expect(answer.status).toBe(400);
    expect(answer.body.code).toBe("invalid_request");
    expect(answer.body.issues.map((issue: { path: string }) => issue.path)).toEqual(paths);
    for (const path of paths) expect(answer.body.message).toContain(path);
    expect(await count()).toBe(before);
  });

  test("takes names of 1 and 128 characters, an emoji being one, and a mime of 255", async () => {
    const edges = [
      { name: "x", mime: "/" },
      { name: "🦊".repeat(128), mime: `a/${"b".repeat(253)}` },
      { name: "../../etc/passwd\u0000\n", mime: "text/plain; charset=utf-8" },
    ];
    const answer = await prepare(edges);
    expect(answer.status).toBe(201);
    for (const [index, file] of answer.body.files.entries()) {
      expect(file).toMatchObject(edges[index] ?? {});
      expect((await upload(file.url, Buffer.from("x"), file.mime)).status).toBe(200);
      const read = await running.call("GET", `${files}/${file.id}`);
      expect(read.body.file).toMatchObject({ ...edges[index], status: "active", size: 1 });
      const download = await fetch(read.body.file.url);
      expect(download.headers.get("content-type")).toBe(file.mime);
      expect(download.headers.get("content-disposition")).toBe(`attachment; filename=${file.path}`);
    }
  });

  test("of another's or a missing storage is a 404 before any broken rule is a 400", async () => {
    const { organization } = await running.operator("create-organization", { name: "Other" });
    const { storage } = await running.operator("create-storage", { organizationId: organization?.id, name: "Other" });
    const own = `/organizations/${running.seed.organizationId}/storages`;
    for (const storageId of [storage?.id, "sto_00000000000000000000000000", "x", "x".repeat(3_000), "%00"]) {
      for (const body of [{ files: [good] }, { files: [] }, {}]) {
        const answer = await running.call("POST", `${own}/${storageId}/files`, { body });
        expect(answer.status).toBe(404);
        const wrongKey = await running.call("POST", `${own}/${storageId}/files`, { body, bearer: "x" });
        expect(wrongKey.status).toBe(401);
      }
      expect((await running.call("GET", `${own}/${storageId}/files?limit=0`)).status).toBe(404);
      expect((await running.call("GET", `${own}/${storageId}/files?cursor=x`)).status).toBe(404);
    }
    const broken = await running.call("POST", files, { text: "{", headers: { "content-type": "application/json" } });
    expect(broken.status).toBe(400);
  });
});

describe("an Idempotency-Key", () => {
  test.each([1, 99, 100])(
    "makes a repeated request for %i files answer with the first entries, signed anew",
    async (size) => {
      const headers = { "idempotency-key": `repeat-${size}` };
      const before = await count();
      const first = await prepare(many(size), headers);
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      const second = await prepare(many(size), headers);
      expect([first.status, second.status]).toEqual([201, 201]);
      const entries = (answer: typeof first) =>
        answer.body.files.map(({ url: _, expiresAt: __, ...entry }: Record<string, unknown>) => entry);
      expect(entries(second)).toEqual(entries(first));
      expect(await count()).toBe(before + size);
      expect(second.body.files[0].expiresAt > first.body.files[0].expiresAt).toBe(true);
      const last = second.body.files[size - 1];
      expect((await upload(last.url, Buffer.from("x"), last.mime)).status).toBe(200);
      expect((await prepare([good, ...many(1)], headers)).status).toBe(422);
    },
  );

  test.each([2, 100])("sent several times at once makes %i entries once", async (size) => {
    const headers = { "idempotency-key": `at-once-${size}` };
    const before = await count();
    const answers = await Promise.all([1, 2, 3].map(() => prepare(many(size), headers)));
    const ids = answers.map((answer) => answer.body.files.map((file: { id: string }) => file.id).join());
    expect(answers.map((answer) => answer.status)).toEqual([201, 201, 201]);
    expect(new Set(ids).size).toBe(1);
    expect(await count()).toBe(before + size);
  });

  test("does not remember a refusal", async () => {
    const headers = { "idempotency-key": "refused" };
    expect((await prepare([], headers)).status).toBe(400);
    expect((await prepare([good], headers)).status).toBe(201);
  });
});
