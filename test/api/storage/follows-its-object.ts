import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { upload } from "../../harness/app.ts";
import { type HeldEvents, startHeldEvents } from "./held-events.ts";

/** An entry follows its object, even if events are lost, late or repeated. The bucket is versioned on AWS but not locally. */
export function followsItsObject(versioned: boolean): void {
  let held: HeldEvents;
  beforeAll(async () => {
    held = await startHeldEvents({ versioned });
  });
  beforeEach(() => {
    held.events.splice(0);
    held.table.fault = undefined;
    held.s3.after = undefined;
  });
  afterAll(() => held.stop());

  async function prepared() {
    const { body } = await held.call("POST", held.files, { body: { files: [{ name: "a", mime: "text/plain" }] } });
    return body.files[0];
  }
  const put = (url: string, text: string) => upload(url, Buffer.from(text), "text/plain");
  const read = async (id: string) => (await held.call("GET", `${held.files}/${id}`)).body.file;
  const listed = async (id: string) => {
    const { body } = await held.call("GET", `${held.files}?limit=200`);
    return body.files.find((file: { id: string }) => file.id === id);
  };
  const arrived = async (count: number) => {
    while (held.events.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
    return held.events;
  };

  test("the event of an upload makes the entry active, with its size", async () => {
    const file = await prepared();
    await put(file.url, "hello");
    expect(await listed(file.id)).toMatchObject({ status: "pending", size: 0 });
    await held.deliver((await arrived(1))[0]);
    const after = await listed(file.id);
    expect(after).toMatchObject({ status: "active", size: 5, createdAt: file.createdAt });
    expect(after.updatedAt > file.updatedAt).toBe(true);
  });

  test("a lost event never shows on a single read, of an upload or of an overwrite", async () => {
    const file = await prepared();
    expect(await read(file.id)).toMatchObject({ status: "pending", size: 0 });
    await put(file.url, "hello");
    expect(await read(file.id)).toMatchObject({ status: "active", size: 5 });
    expect(await listed(file.id)).toMatchObject({ status: "active", size: 5 });
    const first = await read(file.id);
    await put(file.url, "hello again");
    const second = await read(file.id);
    expect(second).toMatchObject({ status: "active", size: 11 });
    expect(second.updatedAt > first.updatedAt).toBe(true);
  });

  test("events that come twice, late or in the wrong order never set an old size", async () => {
    const file = await prepared();
    await put(file.url, "1");
    await put(file.url, "12");
    await put(file.url, "123");
    const [first, second, third] = await arrived(3);
    for (const event of [third, first, second, first, third]) {
      await held.deliver(event);
      expect(await listed(file.id)).toMatchObject({ status: "active", size: 3 });
    }
    const settled = await listed(file.id);
    await held.deliver(second);
    expect(await listed(file.id)).toEqual(settled);
  });

  test("an event that looked at S3 before an overwrite and writes after it loses", async () => {
    const file = await prepared();
    await put(file.url, "old");
    const [old] = await arrived(1);
    held.s3.after = async (method) => {
      if (method !== "HEAD") return;
      held.s3.after = undefined;
      await put(file.url, "newer");
      await held.deliver((await arrived(2))[1]);
      expect(await listed(file.id)).toMatchObject({ size: 5 });
    };
    await held.deliver(old);
    expect(held.events).toHaveLength(2);
    expect(await listed(file.id)).toMatchObject({ status: "active", size: 5 });
  });

  test("an empty upload is an upload", async () => {
    const file = await prepared();
    await put(file.url, "");
    await held.deliver((await arrived(1))[0]);
    expect(await listed(file.id)).toMatchObject({ status: "active", size: 0 });
  });

  test("an upload through the address of a deleted file is removed and brings nothing back", async () => {
    const file = await prepared();
    await put(file.url, "hello");
    const { url } = await read(file.id);
    expect((await held.call("DELETE", `${held.files}/${file.id}`)).body).toEqual({ file: file.id });
    expect((await fetch(url)).status).toBe(404);
    await held.deliver((await arrived(1))[0]);

    expect((await put(file.url, "back")).status).toBe(200);
    expect((await held.call("GET", `${held.files}/${file.id}`)).status).toBe(404);
    await held.deliver((await arrived(2))[1]);
    expect((await fetch(url)).status).toBe(404);
    expect((await held.call("GET", `${held.files}/${file.id}`)).status).toBe(404);
    expect(await listed(file.id)).toBeUndefined();
  });

  test("an interrupted deletion can be repeated, and the entry shows no stored object in the meantime", async () => {
    const file = await prepared();
    await put(file.url, "hello");
    const { url } = await read(file.id);
    held.table.fault = (operation) =>
      operation === "TransactWriteItems" ? { kind: "error", name: "InternalServerError", status: 500 } : undefined;
    expect((await held.call("DELETE", `${held.files}/${file.id}`)).status).toBe(503);
    held.table.fault = undefined;
    expect((await fetch(url)).status).toBe(404);
    expect(await read(file.id)).toMatchObject({ status: "pending", size: 0 });
    expect((await held.call("DELETE", `${held.files}/${file.id}`)).status).toBe(200);
    expect((await held.call("GET", `${held.files}/${file.id}`)).status).toBe(404);
  });

  test("an upload between a deletion's two halves is deleted too, whenever its event comes", async () => {
    for (const inTime of [true, false]) {
      held.events.splice(0);
      const file = await prepared();
      await put(file.url, "same");
      await held.deliver((await arrived(1))[0]);
      const { url } = await read(file.id);
      held.s3.after = async (method) => {
        if (method !== "DELETE") return;
        held.s3.after = undefined;
        // The same bytes in the same second: only the event shows that they are new.
        await put(file.url, "same");
        await arrived(2);
        if (inTime) await held.deliver(held.events[1]);
      };
      const deletion = await held.call("DELETE", `${held.files}/${file.id}`);
      expect(deletion.status).toBe(200);
      if (!inTime) await held.deliver(held.events[1]);
      expect((await fetch(url)).status).toBe(404);
      expect(await listed(file.id)).toBeUndefined();
    }
  });

  test("two deletions at once: one of them deletes, and neither fails", async () => {
    const file = await prepared();
    await put(file.url, "hello");
    const answers = await Promise.all([1, 2].map(() => held.call("DELETE", `${held.files}/${file.id}`)));
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 404]);
  });

  test("objects that are no file's are left alone, and a broken event is refused so that it comes again", async () => {
    await held.deliver({ ...held.events[0], detail: { object: { key: "elsewhere/x" } } } as never);
    await expect(held.deliver({} as never)).rejects.toThrow();
  });
}
