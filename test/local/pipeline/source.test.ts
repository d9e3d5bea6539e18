import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectVersionsCommand,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { noSettings, type Settings } from "../../../api/stored-settings.ts";
import { recipeSchema } from "../../../buildpack/image/recipe.ts";
import { Build, type BuildRow, type BuildSource } from "../../../lambdas/builds/model/rows.ts";
import { Variable } from "../../../lambdas/environments/model/rows.ts";
import { Project } from "../../../lambdas/http/model/project.ts";
import { newFiles, objectKey } from "../../../lambdas/storage/model/files.ts";
import { File } from "../../../lambdas/storage/model/rows.ts";
import { newId } from "../../../lambdas/table/ids.ts";
import type { CallFault } from "../../../local/aws/call-faults.ts";
import { AwsError } from "../../../local/aws/service.ts";
import { startS3 } from "../../../local/s3/server.ts";
import { openCredentials } from "../../../local/sts/store.ts";
import { type S3Gate, startS3Gate } from "../../api/storage/s3-gate.ts";
import { nodeApp, zipOf } from "../../harness/app.ts";
import { begin, useSteps } from "./steps.ts";

const home = mkdtempSync(join(tmpdir(), "source-"));
const credentials = openCredentials({ dir: home });
const [archives, artifacts, files] = ["archives", "artifacts", "files"];
const at = begin.toISOString();

/** The error with which Step Functions refuses a result. */
let refusal: string | undefined;
const steps = useSteps({
  answers: () => ({
    SendTaskSuccess() {
      if (refusal !== undefined) throw new AwsError(refusal, "refused");
      return {};
    },
  }),
});
/** The results that Step Functions was sent, by task token. */
const resumed = () =>
  steps.inputs("SendTaskSuccess").map(({ taskToken, output }) => [taskToken, JSON.parse(output)] as const);

let s3: Awaited<ReturnType<typeof startS3>>;
let gate: S3Gate;
let client: S3Client;
/** The fault of an S3 operation, by its name. */
let faults: Record<string, CallFault> = {};
/** The SDK does not repeat a call that is refused so. */
const refused: CallFault = { kind: "refused", code: "AccessDenied" };

beforeAll(async () => {
  s3 = await startS3({
    dir: join(home, "s3"),
    region: "us-east-1",
    credentials,
    buckets: [archives, artifacts, files].map((name) => ({ name, versioned: name !== artifacts })),
    onObjectCreated: async () => {},
    faults: ({ operation }) => faults[operation],
  });
  gate = await startS3Gate(s3.endpoint);
  vi.stubEnv("AWS_ENDPOINT_URL_S3", gate.endpoint);
  vi.stubEnv("AWS_ACCESS_KEY_ID", credentials.root.accessKeyId);
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", credentials.root.secretAccessKey);
  const options = { endpoint: s3.endpoint, region: "us-east-1", forcePathStyle: true };
  client = new S3Client({ ...options, credentials: { ...credentials.root } });
  await steps.load("analyze", "archive-uploaded", "await-upload", "copy-archive", "file-uploaded");
});
const RealDate = Date;
beforeEach(() => {
  // The SDK signs with the time that S3 answers, which is the real one.
  vi.setSystemTime(new RealDate());
  refusal = undefined;
  faults = {};
  gate.after = undefined;
});
afterAll(async () => {
  client.destroy();
  await gate.close();
  await s3.close();
  rmSync(home, { recursive: true });
});

const canceled = { name: "BuildCanceled", message: "The build was canceled." };

const stored = async (Bucket: string, Key: string) =>
  (await client.send(new GetObjectCommand({ Bucket, Key }))).Body?.transformToString();
async function put(Bucket: string, Key: string, Body: string | Buffer): Promise<string> {
  return (await client.send(new PutObjectCommand({ Bucket, Key, Body }))).VersionId ?? "";
}
const versionsOf = async (Bucket: string, Prefix: string) =>
  (await client.send(new ListObjectVersionsCommand({ Bucket, Prefix }))).Versions ?? [];

/** A build that holds its project's lock; by default it waits for its upload. */
async function begun(change: Partial<BuildRow> = {}, source: BuildSource = { kind: "upload" }) {
  const project = await steps.newProject({ ...change, source });
  const { organizationId, projectId, buildId } = project;
  const key = `archives/${organizationId}/${projectId}/${buildId}.zip`;
  return {
    ...project,
    key,
    remove: () => steps.table.write({ build: Build.delete({ projectId, id: buildId }) }),
    async configure(settings: Partial<Settings>) {
      const row = { id: projectId, organizationId, name: "App", secret: "x", createdAt: at };
      const write = Project.put({ id: projectId }, { ...row, settings: { ...noSettings, ...settings } });
      await steps.table.write({ write });
    },
    async setVariables(values: Record<string, string>) {
      for (const [index, [name, value]] of Object.entries(values).entries()) {
        const id = newId("env", new Date(begin.getTime() + index));
        const row = { id, name, value, createdAt: at, updatedAt: at };
        await steps.table.write({ write: Variable.put({ projectId, id }, row) });
      }
    },
    /** Stores these files as the build's archive. */
    async upload(content: Record<string, string>) {
      const bytes = await zipOf(content);
      return { version: await put(archives, key, bytes), size: bytes.length };
    },
  };
}
type Begun = Awaited<ReturnType<typeof begun>>;

describe("the analysis", () => {
  /** An app with a committed address of its developer's machine. */
  const app = { ...nodeApp("res.end()"), "api.js": 'fetch("http://localhost:4000/api");\n' };
  const artifact = (build: Begun, name: string) => stored(artifacts, `builds/${build.buildId}/${name}`);
  const recipe = async (build: Begun) => recipeSchema.parse(JSON.parse((await artifact(build, "recipe.json")) ?? ""));
  const nothingStored = async (build: Begun) => {
    expect(await versionsOf(artifacts, `builds/${build.buildId}/`)).toEqual([]);
  };

  async function uploaded(content: Record<string, string> = app, change: Partial<BuildRow> = {}) {
    const build = await begun(change);
    const archive = await build.upload(content);
    return { ...build, archive, analyze: () => steps.invoke("analyze", { deployment: build.deployment, archive }) };
  }
  /** Lets something happen while the step reads the archive; the build is being analyzed by then. */
  function meanwhile(build: Begun, happens: () => Promise<unknown>): void {
    let hasHappened = false;
    gate.after = async (method) => {
      if (method !== "GET" || hasHappened) return;
      hasHappened = true;
      await vi.waitUntil(async () => (await build.rows()).build?.status === "analyzing", {
        timeout: 15_000,
        interval: 5,
      });
      await happens();
    };
  }

  test("moves the build on with what was found, and stores what its image is built from", async () => {
    const build = await uploaded();
    await build.setVariables({ API_URL: "https://api.example", TOKEN: "a secret value" });
    expect(await build.analyze()).toEqual({
      archiveKey: build.key,
      archiveVersion: build.archive.version,
      artifactPrefix: `builds/${build.buildId}/`,
      port: 8080,
      releases: false,
    });
    const { build: row, lock } = await build.rows();
    expect(row).toMatchObject({
      status: "building",
      archive: { key: build.key, version: build.archive.version },
      size: build.archive.size,
      runtime: "nodejs24.x",
      port: 8080,
      start: "node server.js",
      settings: noSettings,
      detected: { startCommand: "node server.js", port: 8080 },
      findings: [{ code: "hardcoded_url", file: "api.js", line: 1 }],
    });
    expect(row?.suggestion).toContain("localhost:4000");
    expect(row?.warning).toBeNull();
    expect(lock).toMatchObject({ buildId: build.buildId, status: "building" });
    const { plan, variables, staticServer, dockerfile, dockerignore } = await recipe(build);
    expect(plan).toMatchObject({ start: "node server.js", port: 8080 });
    expect(variables).toEqual([
      { name: "API_URL", value: "https://api.example" },
      { name: "TOKEN", value: "a secret value" },
    ]);
    expect(staticServer).toBeNull();
    expect(dockerfile).toMatch(/ENV API_URL=\$_E0 \\\n +TOKEN=\$_E1/);
    expect(dockerfile).not.toContain("a secret value");
    expect(dockerignore).toContain("**/.git");
    const values = await stored(artifacts, `values/${build.projectId}/${build.buildId}.json`);
    expect(JSON.parse(values ?? "")).toEqual(["https://api.example", "a secret value"]);
  });

  test("gives a single-page app the module that serves its files, and a cache that no other project uses", async () => {
    const manifest = { scripts: { build: "vite build" }, devDependencies: { vite: "7" } };
    const build = await uploaded({ "package.json": JSON.stringify(manifest), "index.html": "<h1>Hello</h1>" });
    await build.analyze();
    const { staticServer, dockerfile } = await recipe(build);
    expect(staticServer).toContain("createServer");
    expect(dockerfile).toContain(build.projectId);
  });

  test.each([
    ["npm run migrate", true],
    ["  ", false],
    [null, false],
  ])("follows the project's settings: the release command %o", async (releaseCommand, releases) => {
    const build = await uploaded();
    await build.configure({ releaseCommand, startCommand: "node api.js" });
    expect(await build.analyze()).toMatchObject({ releases });
    expect((await build.rows()).build).toMatchObject({ start: "node api.js", settings: { releaseCommand } });
  });

  test("gives the same answer when it is repeated, with all that it stored", async () => {
    const build = await uploaded();
    const first = await build.analyze();
    const { build: row } = await build.rows();
    expect(await build.analyze()).toEqual(first);
    expect((await build.rows()).build).toEqual(row);
  });

  test("continues where a run that died left the build", async () => {
    const build = await uploaded();
    faults.PutObject = refused;
    await expect(build.analyze()).rejects.toMatchObject({ name: "AccessDenied" });
    await nothingStored(build);
    faults = {};
    await build.change({ status: "analyzing" });
    expect(await build.analyze()).toMatchObject({ port: 8080 });
    expect((await build.rows()).build).toMatchObject({ status: "building", runtime: "nodejs24.x" });
    expect((await recipe(build)).variables).toEqual([]);
  });

  test("of two runs at once gives both the same answer", async () => {
    const build = await uploaded();
    let other: unknown;
    meanwhile(build, async () => {
      other = await build.analyze();
    });
    expect(await build.analyze()).toEqual(other);
    expect((await build.rows()).build?.status).toBe("building");
  });

  test.each<[string, Partial<BuildRow>]>([
    ["was canceled", { canceledAt: at }],
    ["was canceled during an earlier run", { status: "analyzing", canceledAt: at }],
    ["was canceled after an earlier run", { status: "building", canceledAt: at }],
    ["has failed", { status: "error", error: "It failed." }],
    ["is deploying", { status: "deploying" }],
  ])("drops a build that %s: nothing changes and nothing is stored", async (_, change) => {
    const build = await uploaded(app, change);
    const before = await build.rows();
    await expect(build.analyze()).rejects.toMatchObject(canceled);
    expect(await build.rows()).toEqual(before);
    await nothingStored(build);
  });

  test("drops a build that was deleted, and one whose project another build has locked", async () => {
    const [deleted, late] = [await uploaded(), await uploaded()];
    await deleted.remove();
    await late.lockByAnother();
    for (const build of [deleted, late]) {
      const before = await build.rows();
      await expect(build.analyze()).rejects.toMatchObject(canceled);
      expect(await build.rows()).toEqual(before);
    }
  });

  test("of a build that is canceled meanwhile keeps what it found, and ends there", async () => {
    const build = await uploaded();
    meanwhile(build, () => build.change({ canceledAt: at }));
    await expect(build.analyze()).rejects.toMatchObject(canceled);
    expect((await build.rows()).build).toMatchObject({
      status: "analyzing",
      canceledAt: at,
      runtime: "nodejs24.x",
      findings: [{ code: "hardcoded_url" }],
      start: "node server.js",
    });
  });

  test.each<[string, Partial<BuildRow>]>([
    ["ends as error", { status: "error", error: "It was interrupted." }],
    ["is canceled after another run", { status: "building", canceledAt: at }],
  ])("of a build that %s meanwhile changes nothing", async (_, change) => {
    const build = await uploaded();
    meanwhile(build, () => build.change(change));
    await expect(build.analyze()).rejects.toMatchObject(canceled);
    expect((await build.rows()).build).toMatchObject({ ...change, runtime: null, findings: [] });
  });

  test("of a build that is deleted meanwhile makes no new row", async () => {
    const build = await uploaded();
    meanwhile(build, build.remove);
    await expect(build.analyze()).rejects.toMatchObject(canceled);
    expect((await build.rows()).build).toBeUndefined();
  });

  const withoutStart = { "package.json": JSON.stringify({ name: "app" }), "notes.txt": "no server" };

  test("rejects an app that it cannot start, whose runtime it records, with a sentence for the user", async () => {
    const build = await uploaded(withoutStart);
    await expect(build.analyze()).rejects.toMatchObject({
      name: "BuildRejected",
      message: expect.stringContaining("package.json"),
    });
    expect((await build.rows()).build).toMatchObject({ status: "analyzing", runtime: "nodejs24.x" });
    await nothingStored(build);
  });

  test("rejects an archive that is no zip, of which no runtime is known", async () => {
    const build = await begun();
    const archive = { version: await put(archives, build.key, "not a zip"), size: 9 };
    await expect(steps.invoke("analyze", { deployment: build.deployment, archive })).rejects.toMatchObject({
      name: "BuildRejected",
      message: expect.stringContaining("zip"),
    });
    expect((await build.rows()).build).toMatchObject({ status: "analyzing", runtime: null });
  });

  test.each<[string, Partial<BuildRow>]>([
    ["is canceled", { canceledAt: at }],
    ["ends as error", { status: "error", error: "It was interrupted." }],
  ])("of a rejected build that %s meanwhile records no runtime", async (_, change) => {
    const build = await uploaded(withoutStart);
    meanwhile(build, () => build.change(change));
    await expect(build.analyze()).rejects.toMatchObject({ name: "BuildRejected" });
    expect((await build.rows()).build).toMatchObject({ ...change, runtime: null });
  });

  test("rejects variables that no program could be started with, to the byte", async () => {
    // As a program gets them: the name, an equals sign, the value and a NUL. An "ä" has two bytes.
    const values = (last: number) => ({
      A: "ä".repeat(150_000),
      B: "b".repeat(300_000),
      C: "c".repeat(300_000),
      D: "d".repeat(300_000),
      E: "e".repeat(last),
    });
    const bytesMax = 1_572_864;
    const last = bytesMax - 4 * 300_003 - 3;
    const fits = await uploaded();
    await fits.setVariables(values(last));
    expect(await fits.analyze()).toMatchObject({ port: 8080 });
    const large = await uploaded();
    await large.setVariables(values(last + 1));
    await expect(large.analyze()).rejects.toMatchObject({
      name: "BuildRejected",
      message: expect.stringContaining(
        `have ${bytesMax + 1} bytes together; a program can be started with at most ${bytesMax}`,
      ),
    });
    await nothingStored(large);
  });
});

describe("the copy of an earlier build's archive", () => {
  async function copying(change: Partial<BuildRow> = {}) {
    const earlier = await begun();
    const pinned = await earlier.upload({ "a.txt": "the pinned archive" });
    await put(archives, earlier.key, "a later upload");
    const { buildId, key } = earlier;
    const build = await begun(change, { kind: "copy", buildId, key, ...pinned });
    return { ...build, earlier, pinned, copy: () => steps.invoke("copy-archive", { deployment: build.deployment }) };
  }
  const leaseMinutes = async (build: Begun) =>
    (Date.parse((await build.rows()).lock?.leaseUntil ?? "") - Date.now()) / 60_000;

  test("is a version of the build's own, made once, also if the step is repeated", async () => {
    const build = await copying();
    expect(await leaseMinutes(build)).toBeLessThan(1);
    const copied = await build.copy();
    const versions = await versionsOf(archives, build.key);
    expect(copied).toEqual({ version: versions[0]?.VersionId, size: build.pinned.size });
    expect(versions[0]?.Size).toBe(build.pinned.size);
    expect(await leaseMinutes(build)).toBeGreaterThan(10);
    expect(await build.copy()).toEqual(copied);
    expect(await versionsOf(archives, build.key)).toHaveLength(1);
  });

  test("is refused when the earlier archive is gone", async () => {
    const build = await copying();
    const { key, pinned } = { key: build.earlier.key, pinned: build.pinned.version };
    await client.send(new DeleteObjectCommand({ Bucket: archives, Key: key, VersionId: pinned }));
    await expect(build.copy()).rejects.toMatchObject({
      name: "BuildRejected",
      message: "The original source archive is gone. Upload the source as a new build.",
    });
  });

  test("leaves the lock of another build alone", async () => {
    const build = await copying();
    await build.lockByAnother();
    const { lock } = await build.rows();
    await build.copy();
    expect((await build.rows()).lock).toEqual(lock);
  });

  test("is not made for a build that was canceled, was deleted, or has an archive of its own", async () => {
    const [dropped, deleted, other] = [await copying({ canceledAt: at }), await copying(), await begun()];
    await deleted.remove();
    for (const build of [dropped, deleted, other]) {
      await expect(steps.invoke("copy-archive", { deployment: build.deployment })).rejects.toMatchObject(canceled);
      expect(await versionsOf(archives, build.key)).toEqual([]);
    }
  });

  test("fails while S3 refuses it, so that the step is repeated", async () => {
    const build = await copying();
    faults.CopyObject = refused;
    await expect(build.copy()).rejects.toMatchObject({ name: "AccessDenied" });
    faults = {};
    expect(await build.copy()).toMatchObject({ size: build.pinned.size });
  });
});

describe("the upload", () => {
  const waits = (build: Begun) => steps.invoke("await-upload", { deployment: build.deployment, taskToken: "token" });
  const event = (key: string, more: object = {}) => ({
    detail: { object: { key, size: 7, "version-id": "v7", ...more } },
  });
  const arrives = (key: string) => steps.invoke("archive-uploaded", event(key));

  test("is awaited with a token, and for longer than it may take", async () => {
    const build = await begun();
    expect(await waits(build)).toEqual({});
    const { build: row, lock } = await build.rows();
    expect(row).toMatchObject({ status: "pending", uploadToken: "token" });
    expect(Date.parse(lock?.leaseUntil ?? "")).toBeGreaterThan(Date.now() + 3_600_000);
    expect(resumed()).toEqual([]);
  });

  test("that came before the token is found", async () => {
    const build = await begun();
    const archive = await build.upload({ "a.txt": "a" });
    await waits(build);
    expect(resumed()).toEqual([["token", archive]]);
    expect((await build.rows()).build?.uploadToken).toBe("token");
  });

  test.each<[string, Partial<BuildRow>]>([
    ["was canceled", { canceledAt: at }],
    ["is analyzed already", { status: "analyzing" }],
    ["has failed", { status: "error", error: "It failed." }],
  ])("is not awaited for a build that %s", async (_, change) => {
    const build = await begun(change);
    await build.upload({ "a.txt": "a" });
    const before = await build.rows();
    await expect(waits(build)).rejects.toMatchObject(canceled);
    expect([await build.rows(), resumed()]).toEqual([before, []]);
  });

  test("is not awaited for a build that was deleted or no longer holds its project's lock", async () => {
    const [deleted, late] = [await begun(), await begun()];
    await deleted.remove();
    await late.lockByAnother();
    for (const build of [deleted, late]) {
      const before = await build.rows();
      await expect(waits(build)).rejects.toMatchObject(canceled);
      expect(await build.rows()).toEqual(before);
    }
  });

  test("is not lost if S3 cannot be read: its event finds the token", async () => {
    const build = await begun();
    faults.HeadObject = refused;
    await expect(waits(build)).rejects.toThrow();
    await arrives(build.key);
    expect(resumed()).toEqual([["token", { version: "v7", size: 7 }]]);
  });

  test("resumes the execution with the version of its event", async () => {
    const build = await begun({ uploadToken: "waiting" });
    await arrives(build.key);
    expect(resumed()).toEqual([["waiting", { version: "v7", size: 7 }]]);
  });

  test.each<[string, Partial<BuildRow>]>([
    ["does not wait yet", {}],
    ["was canceled", { uploadToken: "waiting", canceledAt: at }],
    ["is analyzed already", { uploadToken: "waiting", status: "analyzing" }],
  ])("is ignored by a build that %s", async (_, change) => {
    const build = await begun(change);
    await arrives(build.key);
    expect(resumed()).toEqual([]);
  });

  test("is ignored for a build that was deleted, and under any other key", async () => {
    const build = await begun({ uploadToken: "waiting" });
    for (const key of ["archives/other.zip", `${build.key}.part`, `x/${build.key}`]) await arrives(key);
    await build.remove();
    await arrives(build.key);
    expect(resumed()).toEqual([]);
    await expect(
      steps.invoke("archive-uploaded", { detail: { object: { key: build.key, size: 7 } } }),
    ).rejects.toThrow();
  });

  test.each(["TaskTimedOut", "TaskDoesNotExist", "InvalidToken"])(
    "does nothing more for an execution that does not wait any longer (%s)",
    async (code) => {
      const build = await begun({ uploadToken: "waiting" });
      refusal = code;
      await arrives(build.key);
      await build.upload({ "a.txt": "a" });
      expect(await waits(build)).toEqual({});
    },
  );

  test("is delivered again if Step Functions refuses its result", async () => {
    const build = await begun({ uploadToken: "waiting" });
    refusal = "AccessDeniedException";
    await expect(arrives(build.key)).rejects.toMatchObject({ name: "AccessDeniedException" });
  });
});

describe("the event of a stored file", () => {
  const stores = (key: string) => steps.invoke("file-uploaded", { detail: { object: { key } } });

  /** A file's entry, which waits for its upload. */
  async function waiting() {
    const [organizationId, storageId] = [newId("org", begin), newId("sto", begin)];
    const [entry] = newFiles(storageId, [{ name: "a.txt", mime: "text/plain" }], begin);
    if (!entry) throw new Error("no file");
    const place = { storageId, id: entry.id };
    await steps.table.write({ entry: File.put(place, entry) });
    return {
      place,
      key: objectKey({ organizationId, storageId, fileId: entry.id }),
      row: async () => (await steps.table.read({ entry: File.at(place) })).entry,
    };
  }
  const find = (key: string) => stored(files, key).catch((error: Error) => error.name);

  test("makes its entry what S3 holds, once more for each event", async () => {
    const { key, row } = await waiting();
    const version = await put(files, key, "hello");
    await stores(key);
    expect(await row()).toMatchObject({ status: "active", size: 5, object: { version }, revision: 1 });
    await stores(key);
    expect(await row()).toMatchObject({ status: "active", size: 5, object: { version }, revision: 2 });
    expect(await find(key)).toBe("hello");
  });

  test("that comes after the object is gone leaves the entry waiting", async () => {
    const { key, row } = await waiting();
    await stores(key);
    expect(await row()).toMatchObject({ status: "pending", size: 0, revision: 1 });
  });

  test("deletes an object whose entry was deleted, and no other", async () => {
    const [gone, other] = [await waiting(), await waiting()];
    for (const { key } of [gone, other]) await put(files, key, "hello");
    await steps.table.write({ entry: File.delete(gone.place) });
    await stores(gone.key);
    expect([await find(gone.key), await find(other.key)]).toEqual(["NoSuchKey", "hello"]);
  });

  test("under any other key is ignored", async () => {
    const { key } = await waiting();
    for (const other of [`${key}.part`, "notes.txt"]) {
      await put(files, other, "hello");
      await stores(other);
      expect(await find(other)).toBe("hello");
    }
  });

  test("is delivered again while S3 refuses to describe or delete the object", async () => {
    const { key, row, place } = await waiting();
    await put(files, key, "hello");
    faults.HeadObject = refused;
    await expect(stores(key)).rejects.toThrow();
    expect(await row()).toMatchObject({ status: "pending", revision: 0 });
    await steps.table.write({ entry: File.delete(place) });
    faults = { DeleteObject: refused };
    await expect(stores(key)).rejects.toMatchObject({ name: "AccessDenied" });
    expect(await find(key)).toBe("hello");
  });
});
