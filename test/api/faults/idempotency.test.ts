import { randomUUID } from "node:crypto";
import { marshall } from "@aws-sdk/util-dynamodb";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { upload, zipOf } from "../../harness/app.ts";
import type { Answer, Running } from "../../harness/service.ts";
import { type Guarded, startGuarded } from "./guarded-service.ts";

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

describe("the same Idempotency-Key (docs/api.md, Idempotency)", () => {
  let guarded: Guarded;
  let project: Running;
  beforeAll(async () => {
    guarded = await startGuarded();
  });
  afterAll(() => guarded.stop());
  beforeEach(async () => {
    project = await guarded.newProject();
  });

  const post = (path: string, key: string, body?: object, bearer?: string): Promise<Answer> =>
    project.call("POST", `${project.project}${path}`, {
      headers: { "idempotency-key": key },
      ...(body && { body }),
      ...(bearer !== undefined && { bearer }),
    });
  const cancel = (id: string) => project.call("POST", `${project.project}/builds/${id}/cancel`);

  test("gives the first build again, its address signed anew and good for the upload", async () => {
    const key = randomUUID();
    const first = await post("/builds", key, { title: "one" });
    const again = await post("/builds", key, { title: "one" });
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body.build).toEqual(first.body.build);
    expect(new URL(again.body.url).pathname).toBe(new URL(first.body.url).pathname);
    expect(again.body.url).not.toBe(first.body.url);
    expect((await upload(again.body.url, await zipOf({ "index.html": "<p>hello" }))).status).toBe(200);
    expect(JSON.stringify(await guarded.direct.rows())).not.toContain("X-Amz-Signature");
  });

  test("still gives the first answer when the build is over and another one runs", async () => {
    const key = randomUUID();
    const first = await post("/builds", key);
    await cancel(first.body.build.id);
    const other = await post("/builds", randomUUID());
    expect((await post("/builds", key)).body.build).toEqual(first.body.build);
    expect((await post("/builds", randomUUID())).body.build.id).toBe(other.body.build.id);
  });

  test("with another body is refused with 422, and nothing is made", async () => {
    const key = randomUUID();
    const first = await post("/builds", key, { title: "one" });
    const other = await post("/builds", key, { title: "two" });
    expect(other).toMatchObject({ status: 422, body: { code: "idempotency_mismatch" } });
    expect((await post("/builds", key, { title: 5 })).status).toBe(422);
    await cancel(first.body.build.id);
    expect((await post("/builds", key, { title: "two" })).status).toBe(422);
    expect(
      (await guarded.direct.rows()).filter(({ pk, sk }) => sk === "LOCK" && pk === `PRJ#${project.seed.projectId}`),
    ).toEqual([]);
  });

  test("is forgotten after its time, though the table still has the row", async () => {
    const key = randomUUID();
    const name = `OLD_${key.slice(0, 8)}`;
    const first = await post("/environments", key, { name, value: "one" });
    const remove = () => project.call("DELETE", `${project.project}/environments/${first.body.environment.id}`);
    expect((await remove()).status).toBe(200);
    expect((await post("/environments", key, { name, value: "one" })).body).toEqual(first.body);
    await guarded.expire(
      (row) => row.pk.startsWith("IDEM#") && String(row.reply).includes(first.body.environment.id),
      new Date(Date.now() - 1),
    );
    const later = await post("/environments", key, { name, value: "one" });
    expect([first.status, later.status]).toEqual([201, 201]);
    expect(later.body.environment.id).not.toBe(first.body.environment.id);
    // A route that reads first must not replay the old answer either.
    await guarded.expire((row) => row.pk.startsWith("IDEM#"), new Date(Date.now() - 1));
    expect((await post("/environments", key, { name: 5 })).status).toBe(400);
  });

  test("twenty times at once makes one build, and all get the same answer", async () => {
    for (let turn = 0; turn < 3; turn += 1) {
      const key = randomUUID();
      const answers = await Promise.all(times(20, () => post("/builds", key, { title: "raced" })));
      expect(new Set(answers.map(({ status, body }) => `${status} ${JSON.stringify(body.build)}`)).size).toBe(1);
      expect(answers[0]?.status).toBe(201);
      await cancel(answers[0]?.body.build.id);
    }
    expect(await guarded.broken(project)).toEqual([]);
  });

  test("meets a transaction under way that hides the first answer's row, and still gives that answer", async () => {
    const key = randomUUID();
    const first = await post("/builds", key);
    const { pk, sk, ...lock } =
      (await guarded.direct.rows()).find((row) => row.sk === "LOCK" && row.pk.endsWith(project.seed.projectId)) ?? {};
    let hidden = 0;
    guarded.gate.before = (call) => {
      if (call.operation !== "TransactWriteItems" || !call.body.includes(project.seed.accessKey) || hidden > 0)
        return undefined;
      hidden += 1;
      // The key, the project, the recorded response, the lock, the build: only the lock's condition is known to fail.
      return { kind: "half-conflict", failed: 3, row: marshall({ pk, sk, ...lock }) };
    };
    const again = await post("/builds", key);
    guarded.gate.before = undefined;
    expect(hidden).toBe(1);
    expect(again).toMatchObject({ status: 201, body: { build: first.body.build } });
  });

  test("twenty times at once makes one key, whose secret is in one answer only", async () => {
    const key = randomUUID();
    const answers = await Promise.all(times(20, () => post("/credentials", key, { description: "raced" })));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.credential.access}`)).size).toBe(1);
    expect(answers.filter(({ body }) => body.credential.secret !== undefined)).toHaveLength(1);
    const { body: list } = await project.call("GET", `${project.project}/credentials`);
    expect(list.credentials).toHaveLength(1);
    expect((await post("/credentials", key, { description: "raced" })).body.credential).not.toHaveProperty("secret");
    expect(JSON.stringify(await guarded.direct.rows())).not.toContain("sls_");
    expect(await guarded.broken(project)).toEqual([]);
  });

  test("twenty times at once makes one variable; its value is the first one's", async () => {
    const key = randomUUID();
    const answers = await Promise.all(times(20, () => post("/environments", key, { name: "A", value: "b" })));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.environment?.id}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(201);
    expect(await guarded.broken(project)).toEqual([]);
  });

  test("is remembered by caller and path: another caller's request is its own", async () => {
    const key = randomUUID();
    const first = await post("/environments", key, { name: "A", value: "" });
    const byToken = await post("/environments", key, { name: "A", value: "" }, project.seed.token);
    expect(first.status).toBe(201);
    expect(byToken).toMatchObject({ status: 409, body: { code: "name_taken" } });
    const elsewhere = await post("/credentials", key);
    expect(elsewhere.status).toBe(201);
  });

  test("of a conflict or a broken rule is not remembered", async () => {
    const [conflicting, broken] = [randomUUID(), randomUUID()];
    const running = await post("/builds", randomUUID());
    expect((await post("/builds", conflicting)).status).toBe(409);
    expect((await post("/builds", broken, { title: "x".repeat(129) })).status).toBe(400);
    await cancel(running.body.build.id);
    const created = await post("/builds", conflicting);
    expect(created.status).toBe(201);
    await cancel(created.body.build.id);
    expect((await post("/builds", broken, { title: "x" })).status).toBe(201);
  });

  test("of a request whose answer was lost gives that answer", async () => {
    const key = randomUUID();
    guarded.gate.before = (call) =>
      call.operation === "TransactWriteItems" && guarded.concerns(project, call) ? { kind: "lose" } : undefined;
    const lost = await post("/credentials", key);
    guarded.gate.before = undefined;
    expect(lost.status).toBe(503);
    const again = await post("/credentials", key);
    expect(again.status).toBe(201);
    const { body: list } = await project.call("GET", `${project.project}/credentials`);
    expect(list.credentials.map(({ access }: { access: string }) => access)).toEqual([again.body.credential.access]);
  });

  test("may have 255 characters, and must not have none or 256", async () => {
    expect((await post("/environments", "k".repeat(255), { name: "LONG", value: "" })).status).toBe(201);
    for (const key of ["k".repeat(256), ""]) {
      const refused = await post("/environments", key, { name: "OTHER", value: "" });
      expect(refused).toMatchObject({ status: 400, body: { issues: [{ path: "Idempotency-Key" }] } });
    }
  });

  test("means nothing to a session's creation, to a read, or once the caller's key is revoked", async () => {
    const key = randomUUID();
    const sessions = await Promise.all(
      times(2, () => project.call("POST", "/sessions", { headers: { "idempotency-key": key } })),
    );
    expect(new Set(sessions.map(({ body }) => body.session.token)).size).toBe(2);
    const made = await project.call("POST", `${project.project}/credentials`);
    const { id, access, secret } = made.body.credential;
    const bearer = `${access}:${secret}`;
    expect((await post("/environments", key, { name: "BY_KEY", value: "" }, bearer)).status).toBe(201);
    expect((await post("/environments", key, { name: "BY_KEY", value: "" }, bearer)).status).toBe(201);
    await project.call("DELETE", `${project.project}/credentials/${id}`);
    expect((await post("/environments", key, { name: "BY_KEY", value: "" }, bearer)).status).toBe(401);
  });
});
