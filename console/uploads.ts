import { useEffect, useRef, useState } from "preact/hooks";
import { put } from "../sdk/browser.ts";
import { client } from "./api.ts";
import { refresh } from "./load.ts";

export interface Upload {
  id: number;
  name: string;
  size: number;
  sentBytes: number;
  state: "waiting" | "sending" | "done" | "failed";
  error: unknown;
}

/** The parts of an upload that are not shown. */
interface Work {
  file: File;
  stop: AbortController;
  /** The file in the storage, once it is prepared; its address is valid for an hour. */
  prepared?: { fileId: string; url: string };
}

export interface Uploads {
  list: readonly Upload[];
  add(files: Iterable<File>): void;
  retry(id: number): void;
  /** Stops an upload, and removes it from the list and from the storage. */
  remove(id: number): void;
}

const atOnceMax = 3;
let lastId = 0;

/** Uploads to a storage, a few at once. Leaving the page ends them. */
export function useUploads(ids: { orgId: string; storageId: string }): Uploads {
  const [list, setList] = useState<readonly Upload[]>([]);
  const works = useRef(new Map<number, Work>());
  const queue = useRef<number[]>([]);
  const running = useRef(0);
  const change = (id: number, fields: Partial<Upload>) =>
    setList((before) => before.map((one) => (one.id === id ? { ...one, ...fields } : one)));

  async function send(id: number, work: Work): Promise<void> {
    const { file, stop } = work;
    const contentType = file.type || "application/octet-stream";
    change(id, { state: "sending", sentBytes: 0, error: undefined });
    try {
      if (!work.prepared) {
        const { files } = await client.createFiles({ ...ids, files: [{ name: file.name, mime: contentType }] });
        const [prepared] = files;
        if (prepared) work.prepared = { fileId: prepared.id, url: prepared.url };
      }
      const onProgress = ({ sentBytes }: { sentBytes: number }) => change(id, { sentBytes });
      const { fileId = "", url = "" } = work.prepared ?? {};
      await put(url, file, { contentType, onProgress, signal: stop.signal });
      // An event marks the file in the list as uploaded, and may come later; this read checks the stored file itself.
      await client.getFile({ ...ids, fileId });
      works.current.delete(id);
      change(id, { state: "done", sentBytes: file.size });
    } catch (error) {
      if (stop.signal.aborted) discard(work);
      else change(id, { state: "failed", error });
    }
    refresh(`files/${ids.storageId}`);
  }

  /** Deletes the entry of a canceled upload. */
  function discard({ prepared }: Work): void {
    if (!prepared) return;
    client
      .deleteFile({ ...ids, fileId: prepared.fileId })
      .then(() => refresh(`files/${ids.storageId}`))
      // The entry stays in the list as pending; the user can delete it there.
      .catch(() => undefined);
  }

  function next(): void {
    while (running.current < atOnceMax) {
      const id = queue.current.shift();
      if (id === undefined) return;
      const work = works.current.get(id);
      if (!work) continue;
      running.current += 1;
      void send(id, work).finally(() => {
        running.current -= 1;
        next();
      });
    }
  }

  useEffect(
    () => () => {
      queue.current = [];
      for (const { stop } of works.current.values()) stop.abort();
    },
    [],
  );

  return {
    list,
    add(files) {
      const added = [...files].map((file): Upload => {
        lastId += 1;
        works.current.set(lastId, { file, stop: new AbortController() });
        queue.current.push(lastId);
        return { id: lastId, name: file.name, size: file.size, sentBytes: 0, state: "waiting", error: undefined };
      });
      setList((before) => [...before, ...added]);
      next();
    },
    retry(id) {
      queue.current.push(id);
      change(id, { state: "waiting", error: undefined });
      next();
    },
    remove(id) {
      const work = works.current.get(id);
      works.current.delete(id);
      const isSending = list.some((one) => one.id === id && one.state === "sending");
      setList((before) => before.filter((one) => one.id !== id));
      if (!work) return;
      work.stop.abort();
      if (!isSending) discard(work);
    },
  };
}
