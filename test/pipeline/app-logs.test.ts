import { afterAll, beforeAll, expect, test } from "vitest";
import { address, deploy, nodeApp } from "../harness/app.ts";
import { type Answer, type Running, startRunning } from "../harness/service.ts";

interface Line {
  at: string;
  buildId: string;
  instance: string;
  text: string;
}
let running: Running;
let url: string;
let first: string;
const secret = "correct horse battery";
const code = `
  if (req.url.startsWith("/say/")) { for (const word of req.url.slice(5).split("/")) console.log(word); return res.end("said"); }
  if (req.url === "/many") { for (let i = 0; i < 250; i++) console.log("many " + i); return res.end("said"); }
  if (req.url === "/die") { console.error("fatal: out of luck", process.env.SECRET); process.exit(9); }
  res.end("up");`;

beforeAll(async () => {
  running = await startRunning();
  const variable = { name: "SECRET", value: secret };
  expect((await running.call("POST", `${running.project}/environments`, { body: variable })).status).toBe(201);
  const build = await deploy(running, nodeApp(code));
  expect(build.status).toBe("ready");
  first = build.id;
  url = await address(running);
});
afterAll(() => running.stop());

const say = async (path: string) => expect((await fetch(`${url}/${path}`)).status).toBe(200);
async function page(query: Record<string, string | number> = {}): Promise<Answer["body"]> {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) search.set(name, String(value));
  const { status, body } = await running.call("GET", `${running.project}/logs?${search}`);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
}
const texts = (body: { lines: Line[] }) => body.lines.map(({ text }) => text);

/** Follows until this text has come; gives everything that came. */
async function until(cursor: string, last: string, limit = 100): Promise<{ seen: string[]; cursor: string }> {
  const seen: string[] = [];
  let at = cursor;
  for (;;) {
    const body = await page({ cursor: at, limit });
    seen.push(...texts(body));
    at = body.followCursor;
    if (seen.includes(last)) return { seen, cursor: at };
  }
}

test("the newest page comes first, its lines in order, and leads back to the first line", async () => {
  const { followCursor } = await page({ limit: 1 });
  await say("say/one/two/three/four/five");
  await until(followCursor, "five");
  const back: string[][] = [];
  let next: string | null = null;
  do {
    const body: Answer["body"] = await page({ limit: 2, ...(next && { cursor: next }) });
    back.unshift(texts(body));
    expect(typeof body.followCursor).toBe("string");
    next = body.nextCursor;
  } while (next !== null);
  expect(back.flat()).toEqual(["up", "one", "two", "three", "four", "five"]);
  expect(back.at(-1)).toEqual(["four", "five"]);
  const { lines } = await page({ limit: 1 });
  expect(lines[0]).toMatchObject({ buildId: first, instance: expect.stringMatching(/^[0-9a-f]{32}$/) });
  expect(lines[0].at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test("following gives what was written since, oldest first, and loses nothing with a small limit", async () => {
  const { followCursor } = await page();
  expect((await page({ cursor: followCursor })).lines).toEqual([]);
  await say("many");
  await say("say/end");
  const { seen, cursor } = await until(followCursor, "end", 7);
  expect(seen).toEqual([...Array.from({ length: 250 }, (_, index) => `many ${index}`), "end"]);
  await say("say/later");
  expect((await until(cursor, "later")).seen).toEqual(["later"]);
});

test("filters find a part of the masked line without case, and hold while following", async () => {
  const { followCursor } = await page({ text: "NEEDLE" });
  await say(`say/hay/a-Needle-b/${encodeURIComponent(secret)}/hay`);
  await say("say/last-needle");
  expect((await until(followCursor, "last-needle")).seen).toEqual(["a-Needle-b", "last-needle"]);
  expect(texts(await page({ text: "needle", limit: 1 }))).toEqual(["last-needle"]);
  expect(texts(await page({ text: "horse" }))).toEqual([]);
  expect(texts(await page({ text: "[masked]" }))).toEqual(["[masked]"]);
  expect(texts(await page({ since: new Date(Date.now() + 60_000).toISOString() }))).toEqual([]);
});

test("the last lines of a crashed instance are there, and lines of every build, also after a rollback", async () => {
  const { followCursor } = await page();
  await fetch(`${url}/die`, { method: "POST" }).catch(() => undefined);
  const { seen } = await until(followCursor, "up");
  expect(seen).toEqual(["fatal: out of luck [masked]", "up"]);
  const failed = await deploy(running, nodeApp("", 'console.log("does not start"); process.exit(1);'));
  expect(failed.status).toBe("error");
  // On a slow machine it is started a second time before its build ends.
  expect(new Set(texts(await page({ buildId: failed.id })))).toEqual(new Set(["does not start"]));
  const ofFirst = await page({ buildId: first, limit: 1000 });
  expect(new Set(ofFirst.lines.map(({ buildId }: Line) => buildId))).toEqual(new Set([first]));
  expect([...new Set(texts(await page()))].slice(-2)).toEqual(["up", "does not start"]);
});

test.each([
  ["limit=0", 400],
  ["limit=1001", 400],
  ["since=yesterday", 400],
  ["since=2026-13-01T00:00:00Z", 400],
  ["cursor=nonsense", 400],
  [`text=${"x".repeat(257)}`, 400],
  ["buildId=bld_00000000000000000000000000", 404],
  ["buildId=nonsense", 404],
  ["since=2026-01-01T00:00:00.000Z", 200],
  ["text=", 200],
])("%s is answered with %d", async (query, status) => {
  expect((await running.call("GET", `${running.project}/logs?${query}`)).status).toBe(status);
});

test("a cursor of another project's output is refused", async () => {
  const { followCursor } = await page();
  const { project } = await running.operator("create-project", {
    organizationId: running.seed.organizationId,
    name: "other",
  });
  const path = `/organizations/${running.seed.organizationId}/projects/${project?.id}/logs`;
  expect((await running.call("GET", `${path}?cursor=${followCursor}`)).status).toBe(400);
  expect((await running.call("GET", path)).body.lines).toEqual([]);
});

test("a live app that keeps crashing is reported with its restarts, its last exit and its last lines", async () => {
  const build = await deploy(running, nodeApp(code));
  const read = async () => (await running.call("GET", `${running.project}/builds/${build.id}`)).body.build;
  expect(await read()).toMatchObject({ status: "ready", isLive: true, warning: null, findings: [] });
  for (let crash = 0; crash < 2; crash += 1) {
    const { followCursor } = await page();
    // The next crash needs an instance that runs: the gateway answers 503 until the one before is replaced.
    while ((await fetch(url)).status !== 200) await new Promise((resolve) => setTimeout(resolve, 100));
    await fetch(`${url}/die`, { method: "POST" }).catch(() => undefined);
    await until(followCursor, "fatal: out of luck [masked]");
  }
  let crashing = await read();
  while (crashing.findings.length === 0) {
    await new Promise((resolve) => setTimeout(resolve, 250));
    crashing = await read();
  }
  const [finding] = crashing.findings;
  expect(finding).toMatchObject({ code: "app_crashing", file: null, line: null });
  expect(finding.message).toMatch(
    /^The app keeps crashing: 2 restarts in the last hour, the last one at 20\S+Z after exit code 9\.\nLast output:\nup\nfatal: out of luck \[masked\]$/,
  );
  expect(crashing.warning).toBe(finding.message);
});

test("a build that does not exist is a 404 before a query that breaks a rule is a 400", async () => {
  const unknown = "bld_00000000000000000000000000";
  for (const [query, status] of [
    [`buildId=${unknown}&limit=0`, 404],
    [`buildId=${first}&limit=0`, 400],
    ["limit=0", 400],
    [`buildId=${unknown}&since=never`, 404],
    [`buildId=${first}&since=never`, 400],
  ] as const) {
    expect([query, (await running.call("GET", `${running.project}/logs?${query}`)).status]).toEqual([query, status]);
  }
  const elsewhere = await running.call("GET", `${running.project}x/logs?limit=0`);
  expect(elsewhere.status).toBe(404);
});
