import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { ByteSource } from "../../buildpack/zip/source.ts";

/** An archive in a file, read synchronously: no read is in flight when it is closed. */
export interface FileSource extends ByteSource {
  close(): void;
}

/** An open file as the source of an archive; its size is taken once, here. */
export function descriptorSource(descriptor: number): FileSource {
  return {
    size: fstatSync(descriptor).size,
    close: () => closeSync(descriptor),
    async read(offset, length) {
      const bytes = Buffer.allocUnsafe(length);
      let filled = 0;
      while (filled < length) {
        const bytesRead = readSync(descriptor, bytes, filled, length - filled, offset + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return bytes.subarray(0, filled);
    },
  };
}

/** Opens a file as the source of an archive. Throws what the file system says. */
export function fileSource(path: string): FileSource {
  return descriptorSource(openSync(path, "r"));
}
