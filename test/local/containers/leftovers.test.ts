import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createEngineApi } from "../../../local/containers/engine-api.ts";
import { homeLabels, label, labelsOf, pathName, readHomeInEngine } from "../../../local/containers/labels.ts";
import { leaveEngine, removeAbandoned, removeLeftovers } from "../../../local/containers/leftovers.ts";

/** A socket that lists and deletes containers and networks by label, as an engine does. */
class ListingEngine {
  readonly containers = new Map<string, string[]>();
  readonly networks = new Map<string, string[]>();
  readonly images = new Map<string, string[]>();
  readonly #server: Server;
  readonly socket: string;

  constructor(socket: string) {
    this.socket = socket;
    this.#server = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? "/", "http://engine");
      const [, , kind = "", name = ""] = pathname.split("/");
      const all = kind === "networks" ? this.networks : kind === "images" ? this.images : this.containers;
      if (request.method === "DELETE") {
        response.writeHead(all.delete(name) ? 204 : 404).end("{}");
        return;
      }
      const [wanted = ""]: string[] = JSON.parse(searchParams.get("filters") ?? "{}").label;
      const found = [...all].filter(([, labels]) =>
        labels.some((one) => one === wanted || one.startsWith(`${wanted}=`)),
      );
      const rows = found.map(([one, labels]) => ({
        Id: one,
        Name: one,
        RepoTags: [one],
        Labels: Object.fromEntries(labels.map((text) => text.split(/=(.*)/s, 2))),
      }));
      response.end(JSON.stringify(rows));
    });
  }

  get host(): string {
    return `unix://${this.socket}`;
  }
  answer(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(this.socket, resolve));
  }
  away(): Promise<unknown> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(resolve));
  }
}

let folder: string;
let home: string;
let engine: ListingEngine;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "slipway-left-"));
  home = join(folder, "home");
  mkdirSync(home);
  engine = new ListingEngine(join(folder, "engine.sock"));
  await engine.answer();
});
afterEach(async () => {
  await engine.away();
  rmSync(folder, { recursive: true });
});

/** Starts with an engine, as far as leftovers go, and gives the folder's name there. */
async function startWith(one: ListingEngine, of = home): Promise<string> {
  const api = createEngineApi(one.socket);
  const name = await removeLeftovers(api, of, one.host);
  api.close();
  return name;
}
const own = (name: string) => [`${label.home}=${name}`];

test("a start removes what is left of its own data folder in the engine, and nothing else", async () => {
  const name = await startWith(engine);
  engine.containers.set("left", own(name));
  engine.containers.set("another", own("another"));
  expect(await startWith(engine)).toBe(name);
  expect([...engine.containers.keys()]).toEqual(["another"]);
});

test("the name of a data folder outlives a move; a copy gets another name and leaves the containers of the first alone", async () => {
  const name = await startWith(engine);
  engine.containers.set("running", own(name));
  const copy = join(folder, "copy");
  cpSync(home, copy, { recursive: true });
  expect(await startWith(engine, copy)).not.toBe(name);
  await leaveEngine(copy);
  expect([...engine.containers.keys()]).toEqual(["running"]);
  const moved = join(folder, "moved");
  renameSync(home, moved);
  expect(await startWith(engine, moved)).toBe(name);
  expect([...engine.containers.keys()]).toEqual([]);
});

test("a start without an engine removes the containers and networks that an earlier start left in one", async () => {
  const name = await startWith(engine);
  for (const all of [engine.containers, engine.networks]) {
    all.set("left", own(name));
    all.set("another", own("another"));
  }
  await engine.away();
  await leaveEngine(home);
  expect(engine.containers.size).toBe(2);
  // The engine is back at the next start.
  await engine.answer();
  await leaveEngine(home);
  expect([[...engine.containers.keys()], [...engine.networks.keys()]]).toEqual([["another"], ["another"]]);
  expect(readHomeInEngine(home)?.host).toBeUndefined();
});

test("a start with another engine removes what is left in the one before", async () => {
  const name = await startWith(engine);
  engine.containers.set("left", own(name));
  const other = new ListingEngine(join(folder, "other.sock"));
  await other.answer();
  try {
    expect(await startWith(other)).toBe(name);
  } finally {
    await other.away();
  }
  expect(engine.containers.size).toBe(0);
});

test("a new data folder removes what one that was deleted at its place, or an earlier version, left", async () => {
  engine.containers.set("deleted", [`${label.path}=${pathName(home)}`, ...own("lost")]);
  engine.containers.set("earlier", own(pathName(home)));
  engine.networks.set("earlier", own(pathName(home)));
  engine.containers.set("another", own("another"));
  await startWith(engine);
  expect([[...engine.containers.keys()], [...engine.networks.keys()]]).toEqual([["another"], []]);
});

test("what deleted data folders left in the engine is removed, and nothing of a folder that exists, or may exist elsewhere", async () => {
  const api = createEngineApi(engine.socket);
  const [deleted, replaced] = [join(folder, "deleted"), join(folder, "replaced")];
  for (const one of [deleted, replaced]) mkdirSync(one);
  const labelsIn = (one: string) =>
    Object.entries(labelsOf(homeLabels(one))).map(([name, value]) => `${name}=${value}`);
  const here = labelsIn(home);
  const elsewhere = here.map((text) => text.replace(/^slipway\.folder=.*/, "slipway.folder=another-machine:/none"));
  for (const all of [engine.containers, engine.networks, engine.images]) {
    all.set("kept", here);
    all.set("elsewhere", elsewhere);
    all.set("foreign", ["com.example=1"]);
    all.set("deleted", labelsIn(deleted));
    all.set("replaced", labelsIn(replaced));
  }
  for (const one of [deleted, replaced]) rmSync(one, { recursive: true });
  mkdirSync(replaced);
  homeLabels(replaced);
  await removeAbandoned(api);
  api.close();
  for (const all of [engine.containers, engine.networks, engine.images])
    expect([...all.keys()]).toEqual(["kept", "elsewhere", "foreign"]);
});
