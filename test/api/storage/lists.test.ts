import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Running, startRunning } from "../../harness/service.ts";

let running: Running;
let storages: string;
let files: string;
let otherFiles: string;
beforeAll(async () => {
  running = await startRunning();
  storages = `/organizations/${running.seed.organizationId}/storages`;
  files = `${storages}/${running.seed.storageId}/files`;
  const { storage } = await running.operator("create-storage", {
    organizationId: running.seed.organizationId,
    name: "Second",
  });
  otherFiles = `${storages}/${storage?.id}/files`;
  for (const prefix of ["a", "b", "c"]) {
    const wanted = Array.from({ length: 25 }, (_, index) => ({ name: `${prefix}${index}`, mime: "text/plain" }));
    await running.call("POST", files, { body: { files: wanted } });
  }
});
afterAll(() => running.stop());

const expected = ["c", "b", "a"].flatMap((prefix) => Array.from({ length: 25 }, (_, index) => `${prefix}${index}`));
const names = (body: { files: { name: string }[] }) => body.files.map((file) => file.name);

describe("the list of storages", () => {
  test("holds the organization's own, oldest first, with the fields of the contract", async () => {
    const { organization } = await running.operator("create-organization", { name: "Other" });
    await running.operator("create-storage", { organizationId: organization?.id, name: "Foreign" });
    const { status, body } = await running.call("GET", storages);
    expect(status).toBe(200);
    expect(body.storages.map((storage: { name: string }) => storage.name)).toEqual(["First storage", "Second"]);
    expect(Object.keys(body.storages[0]).sort()).toEqual(["createdAt", "id", "name", "status", "updatedAt"]);
    expect(body.storages[0]).toMatchObject({ id: running.seed.storageId, status: "active" });
  });
});

describe("the list of files", () => {
  test("is newest first, each request's files in the order as sent, 50 unless told", async () => {
    const { body } = await running.call("GET", files);
    expect(names(body)).toEqual(expected.slice(0, 50));
    expect(body.files[0]).not.toHaveProperty("url");
    expect(body.files[0]).not.toHaveProperty("expiresAt");
    expect(body.files[0]).toMatchObject({ size: 0, status: "pending", error: null, path: body.files[0].id });
  });

  test.each([1, 7, 25, 75, 200])("pages by %i without gap or repetition", async (limit) => {
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
      const { status, body } = await running.call("GET", `${files}?limit=${limit}${query}`);
      expect(status).toBe(200);
      expect(body.files.length).toBeLessThanOrEqual(limit);
      seen.push(...names(body));
      cursor = body.nextCursor;
    } while (cursor !== null);
    expect(seen).toEqual(expected);
  });

  test("continues after a file that was deleted in the meantime", async () => {
    const wanted = ["x", "y", "z"].map((name) => ({ name, mime: "text/plain" }));
    await running.call("POST", otherFiles, { body: { files: wanted } });
    const first = await running.call("GET", `${otherFiles}?limit=1`);
    await running.call("DELETE", `${otherFiles}/${first.body.files[0].id}`);
    const rest = await running.call("GET", `${otherFiles}?cursor=${first.body.nextCursor}`);
    expect([...names(first.body), ...names(rest.body)]).toEqual(["x", "y", "z"]);
    expect(rest.body.nextCursor).toBeNull();
  });

  test.each(["0", "201", "-1", "1.5", "ten", "", "1e2"])("refuses the limit %j", async (limit) => {
    const answer = await running.call("GET", `${files}?limit=${limit}`);
    expect(answer.status).toBe(400);
    expect(answer.body.issues).toEqual([{ path: "limit", message: "must be an integer from 1 to 200" }]);
  });

  test("refuses a cursor that it did not give out", async () => {
    const { body } = await running.call("GET", `${files}?limit=1`);
    const cursor: string = body.nextCursor;
    const forged = Buffer.from(`${"x".repeat(16)}${body.files[0].id}`).toString("base64url");
    for (const bad of ["x", forged, `${cursor}x`, cursor.slice(0, -2), body.files[0].id, "%00"]) {
      const answer = await running.call("GET", `${files}?cursor=${bad}`);
      expect(answer.status).toBe(400);
      expect(answer.body.issues[0].path).toBe("cursor");
    }
    expect((await running.call("GET", `${otherFiles}?cursor=${cursor}`)).status).toBe(400);
  });
});

describe("a file of another storage", () => {
  test("is not found when read or deleted, and neither are invalid ids", async () => {
    const { body } = await running.call("GET", `${files}?limit=1`);
    const id: string = body.files[0].id;
    for (const [list, fileId] of [
      [otherFiles, id],
      [files, "fil_00000000000000000000000000"],
      [files, "x".repeat(3_000)],
      [files, "%2e%2e"],
    ]) {
      expect((await running.call("GET", `${list}/${fileId}`)).status).toBe(404);
      expect((await running.call("DELETE", `${list}/${fileId}`)).status).toBe(404);
    }
    expect((await running.call("GET", `${files}/${id}`)).status).toBe(200);
  });
});
