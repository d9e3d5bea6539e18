import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { deploy } from "../harness/app.ts";
import { type Answer, type CallOptions, type Running, startRunning } from "../harness/service.ts";

let running: Running;
beforeAll(async () => {
  running = await startRunning();
});
afterAll(() => running.stop());

describe("a text that cannot be stored is refused and named", () => {
  const storage = () => `/organizations/${running.seed.organizationId}/storages/${running.seed.storageId}`;
  const lone = "\\ud800";
  test.each([
    ["builds", `{"title":"a${lone}"}`, "title"],
    ["builds", `{"description":"${lone}b"}`, "description"],
    ["builds", '{"title":"a\\u0000b"}', "title"],
    ["credentials", `{"description":"${lone}"}`, "description"],
    ["environments", `{"name":"A","value":"${lone}"}`, "value"],
    ["files", `{"files":[{"name":"${lone}","mime":"a/b"}]}`, "files.0.name"],
  ])("%s %s", async (list, text, path) => {
    const base = list === "files" ? storage() : running.project;
    const { status, body } = await running.call("POST", `${base}/${list}`, { text });
    expect(status).toBe(400);
    expect(body.issues).toEqual([{ path, message: expect.any(String) }]);
  });
});

describe("an error", () => {
  test.each([
    "application/problem+json",
    "Application/Problem+JSON",
    "application/json;q=0.5, application/problem+json;q=0.9",
  ])("is served as RFC 9457 to %s", async (accept) => {
    const { status, headers, body } = await running.call("GET", "/nothing", { headers: { accept } });
    expect(headers.get("content-type")).toBe("application/problem+json");
    expect({ status: body.status, title: body.title }).toEqual({ status, title: "Not Found" });
    expect(body.requestId).toBe(headers.get("x-request-id"));
  });

  it.each(["*/*", "application/json", "application/problem+json;q=0", "application/problem+jsonx"])(
    "has the service's own shape for %s",
    async (accept) => {
      const { headers, body } = await running.call("GET", "/nothing", { headers: { accept } });
      expect(headers.get("content-type")).toBe("application/json");
      expect(body.status).toBe("Not Found");
    },
  );
});

type Sent = Pick<CallOptions, "body" | "text" | "headers">;
const posted = (path: string, sent: Sent) => running.call("POST", `${running.project}/${path}`, sent);
const cancel = (id: string) => running.call("POST", `${running.project}/builds/${id}/cancel`);

/** The build that a body makes; it is canceled again, so that the next one can be created. */
async function builtFrom(sent: Sent): Promise<Answer["body"]> {
  const { status, body } = await posted("builds", sent);
  expect([sent, status]).toEqual([sent, 201]);
  expect((await cancel(body.build.id)).status).toBe(200);
  return body.build;
}

describe("a body", () => {
  test("a body is read whatever its content type is, and an empty one counts as {}", async () => {
    for (const type of ["text/plain", "application/xml; charset=utf-16", "nonsense"]) {
      const sent = { text: '{"title":"typed"}', headers: { "content-type": type } };
      expect((await builtFrom(sent)).title).toBe("typed");
    }
    for (const text of ["", " \n"]) expect((await builtFrom({ text })).title).toBeNull();
    expect((await builtFrom({})).title).toBeNull();
  });

  test("broken JSON, bytes that are not UTF-8, a value that is not an object and a wrong type are a 400", async () => {
    const wrong: (string | Uint8Array<ArrayBuffer>)[] = ["{", "[]", "1", "null", '"x"', '{"title":1}', '{"title":[]}'];
    for (const text of [...wrong, Uint8Array.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d])]) {
      const { status, body } = await posted("builds", { text });
      expect([text, status, body.code]).toEqual([text, 400, "invalid_request"]);
      expect(body.issues).toEqual([{ path: expect.any(String), message: expect.any(String) }]);
    }
    expect((await posted("environments", { text: "" })).body.issues).toHaveLength(2);
  });

  test("unknown fields are ignored, but not in the definitions of tables and columns", async () => {
    expect((await builtFrom({ body: { title: "known", titel: "unknown" } })).title).toBe("known");
    const tables = `/organizations/${running.seed.organizationId}/databases/${running.seed.databaseId}/tables`;
    for (const [body, path] of [
      [{ name: "notes", colums: [] }, /colums/],
      [{ name: "notes", columns: [{ name: "text", type: "string", nulable: false }] }, /nulable/],
    ] as const) {
      const refused = await running.call("POST", tables, { body });
      expect([refused.status, JSON.stringify(refused.body.issues)]).toEqual([400, expect.stringMatching(path)]);
    }
  });

  test("a body has at most 1 MiB", async () => {
    const sized = (bytes: number) => `{"pad":"${"x".repeat(bytes - '{"pad":""}'.length)}"}`;
    await builtFrom({ text: sized(2 ** 20) });
    const refused = await posted("builds", { text: sized(2 ** 20 + 1) });
    expect([refused.status, refused.body.code]).toEqual([413, "body_too_large"]);
  });
});

describe("builds, variables and app keys", () => {
  test("the title and the description of a build are trimmed, then measured; empty ones are null", async () => {
    const [title, description] = ["🦊".repeat(128), "é".repeat(4096)];
    const { id, ...build } = await builtFrom({ body: { title: `  ${title}\n`, description: `\t${description} ` } });
    expect(id).toMatch(/^bld_/);
    expect(build).toMatchObject({ title, description, commit: null, version: null, status: "pending", size: null });
    for (const none of ["", " \n ", null]) {
      expect(await builtFrom({ body: { title: none, description: none } })).toMatchObject({
        title: null,
        description: null,
      });
    }
    const { status, body } = await posted("builds", { body: { title: `${title}x`, description: `${description}x` } });
    expect([status, body.issues.map(({ path }: { path: string }) => path)]).toEqual([400, ["title", "description"]]);
  });

  test("a finished build cannot be canceled, and says nothing about polling; a pending one is read again after a second", async () => {
    const created = await posted("builds", {});
    const read = () => running.call("GET", `${running.project}/builds/${created.body.build.id}`);
    expect((await read()).headers.get("retry-after")).toBe("1");
    await cancel(created.body.build.id);
    expect((await read()).headers.get("retry-after")).toBeNull();
    expect((await cancel(created.body.build.id)).status).toBe(200);
    const failed = await deploy(running, { "notes.txt": "no app" });
    expect(failed.status).toBe("error");
    expect(await cancel(failed.id)).toMatchObject({ status: 409, body: { code: "build_finished" } });
  });

  test("the names and values of variables keep their rules, and every answer has all fields", async () => {
    const path = `${running.project}/environments`;
    const long = `A${"_".repeat(255)}`;
    const made = await posted("environments", { body: { name: long, value: "é".repeat(16 * 1024) } });
    expect(made).toMatchObject({
      status: 201,
      body: { environment: { name: long, id: expect.stringMatching(/^env_/) } },
    });
    expect((await posted("environments", { body: { name: long, value: "" } })).body.code).toBe("name_taken");
    expect((await posted("environments", { body: { name: "second", value: "" } })).status).toBe(201);
    const named = ["", "1A", "A-B", "A B", "Ä", `${long}x`, "PORT"].map((name) => ({ name, value: "" }));
    const valued = ["\u0000", "x".repeat(32 * 1024 + 1), 1, null].map((value) => ({ name: "OTHER", value }));
    for (const body of [...named, ...valued, { name: "OTHER" }]) {
      expect([body, (await posted("environments", { body })).status]).toEqual([body, 400]);
    }
    const { environment } = made.body;
    const change = (body: object) => running.call("PUT", `${path}/${environment.id}`, { body });
    expect((await change({})).status).toBe(400);
    expect((await change({ name: "second" })).body.code).toBe("name_taken");
    const changed = { ...environment, value: "new", updatedAt: expect.any(String) };
    expect((await change({ value: "new" })).body).toEqual({ environment: changed });
    const { body } = await running.call("GET", path);
    expect(body.environments).toMatchObject([changed, { name: "second", value: "" }]);
    expect((await running.call("DELETE", `${path}/${environment.id}`)).body).toEqual({ environment: environment.id });
    expect((await running.call("DELETE", `${path}/${environment.id}`)).status).toBe(404);
  });

  test("an app key has no end, shows its secret once, and is not listed beside the operator's", async () => {
    const { credential } = await running.operator("create-credential", { projectId: running.seed.projectId });
    expect((await posted("credentials", { body: { description: "x".repeat(256) } })).status).toBe(400);
    const made = await posted("credentials", { body: { description: ` ${"x".repeat(255)} ` } });
    expect(made.status).toBe(201);
    const { secret, ...listed } = made.body.credential;
    expect(listed).toMatchObject({
      description: "x".repeat(255),
      expiredAt: null,
      access: expect.stringMatching(/^slk_/),
    });
    expect(secret).toMatch(/^sls_/);
    const { body } = await running.call("GET", `${running.project}/credentials`);
    expect(body.credentials).toEqual([{ ...listed, lastUsedAt: null }]);
    const byOperator = `${credential?.access}:${credential?.secret}`;
    expect((await running.call("GET", "/ping", { bearer: byOperator })).body).toBe("pong");
  });
});

describe("answers", () => {
  test("ids have the prefix of their kind and sort by time, times have milliseconds, and each answer has an id", async () => {
    const [first, second] = [await builtFrom({}), await builtFrom({})];
    expect([second.id, first.id].toSorted()).toEqual([first.id, second.id]);
    for (const at of [first.createdAt, first.updatedAt]) expect(at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const { organizationId, projectId, databaseId, storageId } = running.seed;
    expect([organizationId, projectId, databaseId, storageId]).toEqual([
      expect.stringMatching(/^org_/),
      expect.stringMatching(/^prj_/),
      expect.stringMatching(/^dbs_/),
      expect.stringMatching(/^sto_/),
    ]);
    for (const path of ["/ping", "/nothing", `${running.project}/builds`]) {
      expect((await running.call("GET", path)).headers.get("x-request-id")).not.toBe(null);
    }
  });

  test("every list with pages takes a limit in its range, and only a cursor of its own", async () => {
    const { organizationId, storageId } = running.seed;
    const build = await builtFrom({});
    await builtFrom({});
    const lists: [path: string, max: number][] = [
      [`${running.project}/builds`, 100],
      [`${running.project}/builds/${build.id}/logs`, 1000],
      [`${running.project}/logs`, 1000],
      [`/organizations/${organizationId}/projects`, 100],
      [`/organizations/${organizationId}/events`, 100],
      [`/organizations/${organizationId}/storages/${storageId}/files`, 200],
    ];
    const { body } = await running.call("GET", `${running.project}/builds?limit=1`);
    expect([body.builds.length, body.nextCursor]).toEqual([1, expect.any(String)]);
    for (const [path, max] of lists) {
      const whole = await running.call("GET", `${path}?limit=${max}`);
      expect([path, whole.status, whole.body.nextCursor]).toEqual([path, 200, null]);
      const foreign = path.endsWith("/builds") ? `${body.nextCursor}x` : body.nextCursor;
      for (const query of [`limit=${max + 1}`, "limit=0", "limit=1.5", "limit=x", `cursor=${foreign}`, "cursor="]) {
        expect([path, query, (await running.call("GET", `${path}?${query}`)).status]).toEqual([path, query, 400]);
      }
    }
  });
});
