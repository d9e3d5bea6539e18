import { open } from "node:fs/promises";
import type { ByteSource } from "../../lambdas/domain/zip/source.ts";

/** An archive in a file; close it when no read is in flight any more. */
export interface FileSource extends ByteSource {
  close(): Promise<void>;
}

/** Opens a file as the source of an archive; its size is taken once, here. */
export async function fileSource(path: string): Promise<FileSource> {
  const file = await open(path, "r");
  const { size } = await file.stat();
  return {
    size,
    close: () => file.close(),
    async read(offset, length) {
      const bytes = Buffer.allocUnsafe(length);
      let filled = 0;
      while (filled < length) {
        const { bytesRead } = await file.read(bytes, filled, length - filled, offset + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return bytes.subarray(0, filled);
    },
  };
}
