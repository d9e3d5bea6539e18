import { randomUUID } from "node:crypto";
import { constants, existsSync, linkSync, openSync } from "node:fs";
import { copyFile, mkdir, open, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";

export interface BlobWriter {
  id: string;
  write(chunk: Buffer): Promise<void>;
  close(): Promise<void>;
  discard(): Promise<void>;
}

/**
 * The bytes of objects, each in a file with a random name, so that a key is never part of a path. A file that is not in
 * the index is invisible, so the transaction of the index publishes an upload.
 */
export interface Blobs {
  create(): Promise<BlobWriter>;
  /** Whether the file exists; the user may have deleted it manually. */
  has(id: string): boolean;
  /** Opens the file; the descriptor stays readable even if the object is deleted. The caller closes it. */
  open(id: string): number;
  /** Creates a second name for the same bytes; this is safe because blobs never change. */
  duplicate(id: string): Promise<string>;
  remove(ids: Iterable<string>): Promise<void>;
  /** Deletes files that a crash left during uploads and deletions; must be called before the first write. */
  removeUnknown(isKnown: (id: string) => boolean): Promise<void>;
}

export async function openBlobs(dir: string): Promise<Blobs> {
  const pathOf = (id: string) => join(dir, id.slice(0, 2), id);
  for (let i = 0; i < 256; i++) await mkdir(join(dir, i.toString(16).padStart(2, "0")), { recursive: true });
  const remove = async (id: string) => unlink(pathOf(id)).catch(() => {});

  return {
    async create() {
      const id = randomUUID();
      const file = await open(pathOf(id), "wx", 0o600);
      return {
        id,
        write: (chunk) => file.writeFile(chunk),
        close: () => file.close(),
        async discard() {
          await file.close().catch(() => {});
          await remove(id);
        },
      };
    },
    has: (id) => existsSync(pathOf(id)),
    open: (id) => openSync(pathOf(id), "r"),
    async duplicate(id) {
      const copy = randomUUID();
      try {
        linkSync(pathOf(id), pathOf(copy));
      } catch {
        // Some file systems have no hard links.
        await copyFile(pathOf(id), pathOf(copy), constants.COPYFILE_EXCL);
      }
      return copy;
    },
    async remove(ids) {
      for (const id of ids) await remove(id);
    },
    async removeUnknown(isKnown) {
      for (const folder of await readdir(dir)) {
        for (const id of await readdir(join(dir, folder))) if (!isKnown(id)) await remove(id);
      }
    },
  };
}
