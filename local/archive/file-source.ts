import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { ByteSource } from "../../buildpack/zip/source.ts";

/** An archive in a file. Reads are synchronous, so that none is pending when it is closed. */
export interface FileSource extends ByteSource {
  close(): void;
}

/** An open file as the source of an archive; the size is read once, when this is called. */
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

/** Opens a file as the source of an archive. Throws the error of the file system. */
export function fileSource(path: string): FileSource {
  return descriptorSource(openSync(path, "r"));
}
