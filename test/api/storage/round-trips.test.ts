import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newKeyPair } from "../../../lambdas/http/presented-credential.ts";
import { countedHeader, followRequests } from "../../harness/counted-calls.ts";
import { type HeldEvents, startHeldEvents } from "./held-events.ts";

/** Calls to the table, how many follow one another (docs/data-model.md, Reading and writing), and how often the signer role is assumed. */
let held: HeldEvents;
beforeAll(async () => {
  followRequests();
  held = await startHeldEvents({ versioned: false });
  await held.call("GET", "/ping");
});
afterAll(() => held.stop());

const files = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ name: `${index}`, mime: "text/plain" }));

async function counted(method: string, path: string, body?: unknown) {
  const name = randomUUID();
  held.assumed.count = 0;
  held.table.delayMs = 60;
  const answer = await held.call(method, path, {
    headers: { [countedHeader]: name },
    ...(body !== undefined && { body }),
  });
  held.table.delayMs = 0;
  const calls = held.table.calls
    .filter((call) => call.countedFor === name && call.operation !== "UpdateItem")
    .sort((a, b) => a.began - b.began);
  let depth = 0;
  let last = Number.NEGATIVE_INFINITY;
  for (const call of calls) {
    if (call.began < last) continue;
    depth += 1;
    last = call.ended;
  }
  const operations = calls.map((call) => call.operation).sort();
  return { answer, depth, operations, assumed: held.assumed.count };
}

test.each([
  [98, { depth: 2, operations: ["BatchGetItem", "TransactWriteItems"] }],
  // The storage's check takes room in the transaction (docs/decisions/0016-deletion-answers-first.md).
  [100, { depth: 3, operations: ["BatchGetItem", "TransactWriteItems", "TransactWriteItems"] }],
])("%i files are one batch, as few transactions as fit, and one session of the signer role", async (count, calls) => {
  const seen = await counted("POST", held.files, { files: files(count) });
  expect(seen.answer.status).toBe(201);
  expect(seen.answer.body.files).toHaveLength(count);
  expect(seen).toMatchObject({ ...calls, assumed: 1 });
});

test("a hundred files that are sent twice at once with one Idempotency-Key are a hundred files and one change", async () => {
  const count = async () => (await held.rows()).filter(({ sk }) => sk.startsWith("FIL#")).length;
  const before = await count();
  const headers = { "idempotency-key": randomUUID() };
  held.table.delayMs = 60;
  const send = () => held.call("POST", held.files, { headers, body: { files: files(100) } });
  const answers = await Promise.all([send(), send()]);
  held.table.delayMs = 0;
  const ids = answers.map(({ body }) => body.files.map(({ id }: { id: string }) => id));
  expect(answers.map(({ status }) => status)).toEqual([201, 201]);
  expect(ids[1]).toEqual(ids[0]);
  expect(await count()).toBe(before + 100);
  const { body } = await held.call("GET", `/organizations/${held.organizationId}/events?limit=2`);
  const done = body.events.filter(({ ids: named }: { ids: object }) => JSON.stringify(named).includes(ids[0][0]));
  expect(done).toMatchObject([{ action: "create-files", outcome: "done", ids: { fileIds: ids[0] } }]);
  expect(body.events.filter(({ outcome }: { outcome: string }) => outcome === "unknown")).toEqual([]);
});

test("lists have depth 1", async () => {
  const listed = await counted("GET", `${held.files}?limit=10`);
  expect(listed).toMatchObject({ depth: 1, operations: ["BatchGetItem", "Query"], assumed: 0 });
  const cursor = listed.answer.body.nextCursor;
  expect(await counted("GET", `${held.files}?cursor=${cursor}`)).toMatchObject({ depth: 1 });
  const storages = await counted("GET", `/organizations/${held.organizationId}/storages`);
  expect(storages).toMatchObject({ depth: 1, operations: ["BatchGetItem", "Query"] });
});

test("a read is one batch, a deletion one batch and one transaction, and what cannot be costs no signing", async () => {
  const { answer } = await counted("POST", held.files, { files: files(1) });
  const path = `${held.files}/${answer.body.files[0].id}`;
  expect(await counted("GET", path)).toMatchObject({ depth: 1, operations: ["BatchGetItem"], assumed: 1 });
  expect(await counted("DELETE", path)).toMatchObject({ depth: 2, operations: ["BatchGetItem", "TransactWriteItems"] });
  const gone = await counted("GET", path);
  expect(gone).toMatchObject({ depth: 1, operations: ["BatchGetItem"], assumed: 0 });
  const refused = await counted("POST", held.files, { files: [] });
  expect(refused).toMatchObject({ depth: 1, operations: ["BatchGetItem"], assumed: 0 });
});

test("a request that cannot be signed answers 503 and leaves no entries", async () => {
  const before = await held.call("GET", `${held.files}?limit=200`);
  held.refuseSts.now = true;
  const refused = await held.call("POST", held.files, { body: { files: files(3) } });
  held.refuseSts.now = false;
  expect(refused.status).toBe(503);
  expect((await held.call("GET", `${held.files}?limit=200`)).body).toEqual(before.body);
});

test("a build whose address cannot be signed is not stored and leaves the project free", async () => {
  const builds = `${held.project}/builds`;
  held.refuseSts.now = true;
  const refused = await held.call("POST", builds);
  const stranger = newKeyPair(held.organizationId);
  const unproved = await held.call("POST", builds, { bearer: `${stranger.access}:${stranger.secret}` });
  held.refuseSts.now = false;
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(unproved.status).toBe(401);
  const rows = await held.rows();
  expect(rows.filter(({ sk }) => sk.startsWith("BLD#") || sk === "LOCK")).toEqual([]);
  const created = await held.call("POST", builds);
  expect(created.status).toBe(201);
  held.refuseSts.now = true;
  const busy = await held.call("POST", builds);
  held.refuseSts.now = false;
  expect([busy.status, busy.body.build.id]).toEqual([409, created.body.build.id]);
});
