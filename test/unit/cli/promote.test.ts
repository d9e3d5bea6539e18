import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { contractService, type Script } from "./contract-service.ts";
import { commandLine, folderWith } from "./slipway.ts";

const app = { "package.json": "{}", "server.js": "//" };
const live = { builds: [{ id: "bld_1", title: "One", status: "ready", isLive: true }] };

/** A build that this machine deployed on one service, and a saved login for another. */
async function deployed(script: Script = live, other: Script = {}) {
  const from = await contractService(script);
  const to = await contractService(other);
  const profiles = { production: { baseUrl: to.environment.SLIPWAY_URL, token: "slp_far" } };
  const home = folderWith({ "logins.json": JSON.stringify({ current: null, profiles }), ...app });
  const environment = { ...from.environment, SLIPWAY_CONFIG: home.path, SLIPWAY_CACHE: join(home.path, "cache") };
  const run = (words: string[]) => commandLine(words, { environment, workingFolder: home.path });
  expect(await run(["deploy", "."])).toMatchObject({ code: 0 });
  const archives = join(home.path, "cache", "archives");
  const dispose = async () => {
    home[Symbol.dispose]();
    await from[Symbol.asyncDispose]();
    await to[Symbol.asyncDispose]();
  };
  return { from, to, run, archives, [Symbol.asyncDispose]: dispose };
}

const sent = (service: { asked: { call: string; body: Buffer }[] }) =>
  service.asked.find(({ call }) => call.startsWith("PUT /put/"))?.body;

test("the identical archive of the live build goes to the other service, with that service's login only", async () => {
  await using both = await deployed();
  const { code, stdout, stderr } = await both.run(["promote", "--to", "production"]);
  expect([code, stdout]).toEqual([0, "http://127.0.0.1:9/\n"]);
  expect(stderr).toContain(`to prj_1 at ${both.to.environment.SLIPWAY_URL}.`);
  expect(sent(both.to)?.length).toBeGreaterThan(0);
  expect(sent(both.to)).toEqual(sent(both.from));
  const create = both.to.asked.find(({ call }) => call.startsWith("POST") && call.endsWith("/builds"));
  expect([create?.headers.authorization, JSON.parse(String(create?.body))]).toEqual(["Bearer slp_far", {}]);
  expect(both.from.asked.map(({ headers }) => headers.authorization)).not.toContain("Bearer slp_far");
});

test("an archive that changed since, or that another machine deployed, is not promoted", async () => {
  await using both = await deployed();
  const unknown = await both.run(["promote", "bld_9", "--to", "production"]);
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining("is not kept on this machine")]);
  writeFileSync(join(both.archives, "bld_1.zip"), Buffer.alloc(sent(both.from)?.length ?? 0));
  const changed = await both.run(["promote", "--to", "production"]);
  expect([changed.code, changed.stderr]).toEqual([1, expect.stringContaining("is not the archive that was deployed")]);
  expect(sent(both.to)).toBeUndefined();
});

test("a build that did not end as ready is not promoted, and neither is one when nothing serves", async () => {
  await using both = await deployed({ ...live, statuses: [{ status: "ready" }, { status: "error" }] });
  const failed = await both.run(["promote", "bld_1", "--to", "production"]);
  expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining("did not end as ready")]);
  await using idle = await deployed({});
  expect((await idle.run(["promote", "--to", "production"])).stderr).toContain("No build serves there now.");
  expect(await idle.run(["promote"])).toMatchObject({ code: 2 });
  expect((await idle.run(["promote", "--to", "nowhere"])).code).toBe(1);
});

test("the project there has the same name, or is named", async () => {
  await using both = await deployed(live, { projects: ["Other"] });
  const unclear = await both.run(["promote", "--to", "production"]);
  expect([unclear.code, unclear.stderr]).toEqual([1, expect.stringContaining("--to-project <id>: prj_1 (Other).")]);
  expect(await both.run(["promote", "--to", "production", "--to-project", "prj_1"])).toMatchObject({ code: 0 });
});

test("of many deployed archives the newest are kept", async () => {
  await using both = await deployed();
  for (const number of [2, 3, 4, 5, 6, 7]) {
    for (const ending of ["zip", "json"]) writeFileSync(join(both.archives, `bld_0${number}.${ending}`), "{}");
  }
  expect(await both.run(["deploy", "."])).toMatchObject({ code: 0 });
  const kept = readdirSync(both.archives).filter((name) => name.endsWith(".zip"));
  expect(kept).toEqual(["bld_04.zip", "bld_05.zip", "bld_06.zip", "bld_07.zip", "bld_1.zip"]);
  expect(readdirSync(both.archives)).toHaveLength(10);
});
