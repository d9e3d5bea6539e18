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

test("smoke", async () => {
  const c = await running.call("POST", files, { body: { files: [{ name: "a", mime: "text/plain" }, { name: "b", mime: "text/plain" }] } });
  console.log(c.status, JSON.stringify(c.body, null, 1));
  const [a] = c.body.files;
  const g0 = await running.call("GET", `${files}/${a.id}`);
  console.log(g0.status, g0.body, (await fetch(g0.body.file.url)).status);
  const put = await upload(a.url, Buffer.from("hello"), "text/plain");
  expect(put.status).toBe(200);
  const g = await running.call("GET", `${files}/${a.id}`);
  console.log(g.body);
  const d = await fetch(g.body.file.url);
  console.log(d.status, d.headers, await d.text());
  console.log((await running.call("GET", files)).body);
  console.log((await running.call("GET", files.replace("/files", "").replace(/\/sto_.*/, ""))).body);
  console.log((await running.call("DELETE", `${files}/${a.id}`)).body, (await fetch(g.body.file.url)).status);
  console.log((await running.call("DELETE", `${files}/${a.id}`)).body);
});
