import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openApi } from "../../api/openapi.ts";
import { pages } from "../../api/pages.ts";
import { settingNames } from "../../api/settings.ts";
import { type Running, startRunning } from "../harness/service.ts";

let running: Running;
beforeAll(async () => {
  running = await startRunning();
});
afterAll(() => running.stop());

// Node's fetch asks for compression by itself and undoes it; `identity` shows the text as it was sent.
const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(running.seed.baseUrl + path, { headers: { "accept-encoding": "identity", ...headers } });

test("the OpenAPI document needs no credential, and is the contract's own", async () => {
  const response = await get("/openapi.json");
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
  expect(await response.json()).toEqual(JSON.parse(JSON.stringify(openApi())));
});

const documents = pages.filter(({ resource }) => resource === "documents");

test.each(documents.flatMap(({ paths }) => paths))("%s is not sent again to a client that has it", async (path) => {
  const first = await get(path);
  const etag = first.headers.get("etag") ?? "";
  expect(etag).toMatch(/^"[\w-]{27}"$/);
  const text = await first.text();
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
    const again = await get(path, { "if-none-match": known });
    expect([known, again.status, await again.text(), again.headers.get("etag")]).toEqual([known, 304, "", etag]);
  }
  expect((await get(path, { "if-none-match": '"other"' })).status).toBe(200);
  const compressed = await get(path, { "accept-encoding": "gzip, br;q=0" });
  expect(compressed.headers.get("content-encoding")).toBe("gzip");
  expect(await compressed.text()).toBe(text);
});

test("the reference page names every route, loads no other file, and has at most 60 KB compressed", async () => {
  const response = await get("/docs");
  expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
  const text = await response.text();
  const { paths } = openApi() as { paths: Record<string, Record<string, { operationId?: string }>> };
  const ids = Object.values(paths).flatMap((item) =>
    Object.values(item).flatMap(({ operationId }) => operationId ?? []),
  );
  expect(ids.filter((id) => !text.includes(`<section id="${id}">`))).toEqual([]);
  expect(text).not.toMatch(/\b(src|href)="(https?:)?\/\//);
  expect(gzipSync(text).length).toBeLessThanOrEqual(60 * 1024);
});

test("the short text for language models names every route and how to deploy", async () => {
  const response = await get("/llms.txt");
  expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  const text = await response.text();
  for (const [path, item] of Object.entries(openApi().paths ?? {})) {
    for (const method of Object.keys(item).filter((name) => name !== "parameters")) {
      expect(text).toContain(`\`${method.toUpperCase()} ${path}\``);
    }
  }
  expect(text).toContain("Content-Type: application/zip");
});

test("the schema of slipway.json says what each setting is, and refuses unknown ones", async () => {
  const response = await get("/slipway.schema.json");
  expect(response.headers.get("content-type")).toBe("application/schema+json");
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the service answered
  const schema: any = await response.json();
  expect(schema.additionalProperties).toBe(false);
  for (const name of settingNames) expect([name, schema.properties[name]?.description]).not.toContain(undefined);
  expect(schema.properties.memory.anyOf?.[0]?.enum ?? schema.properties.memory.enum).toContain(512);
});

test("other methods and paths below a page are the API's own 404", async () => {
  for (const [method, path] of [
    ["POST", "/docs"],
    ["GET", "/docs/"],
    ["GET", "/openapi.yaml"],
  ] as const) {
    const { status, body } = await running.call(method, path);
    expect([method, path, status, body.code]).toEqual([method, path, 404, "not_found"]);
  }
});

test("the reference page shows the type of every answer, and the query of every list with pages", async () => {
  const text = await (await get("/docs")).text();
  const sections = text.split("<section ").slice(1);
  for (const section of sections) {
    expect(/<h4>Answer 20[01]<\/h4><pre>(any|object)?<\/pre>/.exec(section)?.[0]).toBeUndefined();
  }
  const builds = sections.find((section) => section.startsWith('id="list-builds"')) ?? "";
  expect(builds).toContain("limit?: integer;");
  expect(builds).toContain("cursor?: string;");
});
