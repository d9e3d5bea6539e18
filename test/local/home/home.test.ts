import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startService } from "../../../local/service.ts";
import { StartRefused } from "../../../local/start-refused.ts";
import { startServiceProcess } from "./service-process.ts";

const folder = mkdtempSync(join(tmpdir(), "slipway-home-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Every file and folder below `root` that others than its owner may read, write or enter. */
function open(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isSymbolicLink())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => (lstatSync(path).mode & 0o077) !== 0);
}

/**
 * The message with which a service refuses to start. It starts in this process, because another one would load the code for
 * half a second; `printedRefusal` shows what a process makes of such an error.
 */
async function refusal(home: string): Promise<string> {
  const error = await startService({ home, port: 0 }).then(
    (service) => service.stop(),
    (error: unknown) => error,
  );
  if (!(error instanceof StartRefused)) return expect.unreachable(`It was not refused: ${error}`);
  expect(error.message.trim().split("\n")).toHaveLength(1);
  return error.message;
}

/** Starts a process that must refuse to start. It prints one message without a stack trace and exits with code 1. */
async function printedRefusal(home: string): Promise<string> {
  const service = startServiceProcess(home);
  const code = await service.ended;
  expect(service.stdout()).not.toContain("Slipway is ready");
  expect(service.stderr()).not.toMatch(/^\s+at /m);
  expect(service.stderr().trim().split("\n")).toHaveLength(1);
  expect(code).toBe(1);
  return service.stderr();
}

describe("a data folder that was used before", () => {
  const home = join(folder, "used");
  let local: string;

  beforeAll(async () => {
    mkdirSync(home, { mode: 0o755 });
    const service = startServiceProcess(home);
    await service.ready;
    expect(await service.stop()).toBe(0);
    local = readFileSync(join(home, "local.json"), "utf8");
  }, 60_000);

  it("can be opened and read by its owner only", () => {
    expect(lstatSync(home).mode & 0o777).toBe(0o700);
    expect(open(home)).toEqual([]);
  });

  const ports = () => JSON.parse(readFileSync(join(home, "ports.json"), "utf8"));

  it("gets its permissions back, with everything in it, and repairs ports.json and its own keys", async () => {
    chmodSync(home, 0o755);
    for (const name of readdirSync(home)) chmodSync(join(home, name), lstatSync(join(home, name)).mode | 0o055);
    writeFileSync(join(home, "ports.json"), "");
    const path = join(home, "sts", "credentials.json");
    writeFileSync(path, '{"root":{"accessKeyId":"AKI');
    const service = startServiceProcess(home);
    await service.ready;
    expect(await service.stop()).toBe(0);
    expect(lstatSync(home).mode & 0o777).toBe(0o700);
    expect(open(home)).toEqual([]);
    expect(ports()).toEqual({ s3: expect.any(Number) });
    const { accessKeyId } = JSON.parse(readFileSync(path, "utf8")).root;
    expect(JSON.parse(readFileSync(join(home, "runtime.json"), "utf8"))).toMatchObject({ accessKeyId });
    expect(service.stdout() + service.stderr()).not.toMatch(/"AKI|^\s+at /m);
  });

  it("is refused if local.json is damaged: the message names the file, which is left unchanged", async () => {
    const path = join(home, "local.json");
    for (const [content, refused] of [
      ["", printedRefusal],
      ["[]", refusal],
    ] as const) {
      writeFileSync(path, content);
      expect(await refused(home)).toContain(`${path} is damaged.`);
      expect(readFileSync(path, "utf8")).toBe(content);
    }
    writeFileSync(path, local);
  });

  it("is refused with the name of a database file that cannot be opened", async () => {
    for (const [file, named, refused] of [
      // A program of its own opens this one, and would print to the same stderr.
      ["table.db", join(home, "table.db"), printedRefusal],
      ["s3/index.sqlite", home, refusal],
      ["lock.db", home, refusal],
    ] as const) {
      const path = join(home, file);
      const good = readFileSync(path);
      writeFileSync(path, Buffer.alloc(8192, "not a database "));
      expect(await refused(home)).toContain(named);
      writeFileSync(path, good);
    }
  }, 60_000);

  it("with good files again, and wrong ports, it can be started, and again after a stop, but not twice at the same time", async () => {
    writeFileSync(join(home, "ports.json"), '{"s3":"x"}');
    const given = process.env.AWS_ENDPOINT_URL_DYNAMODB;
    delete process.env.AWS_ENDPOINT_URL_DYNAMODB;
    const first = await startService({ home, port: 0 });
    await expect(startService({ home, port: 0 })).rejects.toThrow(`${home} is in use by process ${process.pid}.`);
    await first.stop();
    expect(ports()).toEqual({ s3: expect.any(Number) });
    const second = await startService({ home, port: 0 });
    const { accessKey, secretKey } = JSON.parse(local);
    const headers = { authorization: `Bearer ${accessKey}:${secretKey}` };
    expect((await fetch(`${second.baseUrl}/organizations`, { headers })).status).toBe(200);
    await second.stop();
    const both = await Promise.allSettled([startService({ home, port: 0 }), startService({ home, port: 0 })]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    for (const start of both) if (start.status === "fulfilled") await start.value.stop();
    if (given === undefined) delete process.env.AWS_ENDPOINT_URL_DYNAMODB;
    else process.env.AWS_ENDPOINT_URL_DYNAMODB = given;
  }, 60_000);
});

describe("a data folder that cannot be used", () => {
  it("is named in the error if a part of its path is a file", async () => {
    writeFileSync(join(folder, "file"), "");
    expect(await refusal(join(folder, "file", "home"))).toContain(
      `${join(folder, "file")} cannot be used: it is a file`,
    );
    expect(await refusal(join(folder, "file"))).toContain(`${join(folder, "file")} cannot be used: it is a file`);
  });

  it("is named in the error if it is not writable", async () => {
    // A folder of /proc is read-only for every user, root included.
    expect(await refusal("/proc/sys/kernel/slipway")).toContain("/proc/sys/kernel/slipway cannot be used");
  });
});
