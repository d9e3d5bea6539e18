const headerBytes = 8;

/**
 * Reads the engine's stream of output: frames of a header (stream, 3 bytes, length) and content. Content is passed on as
 * it arrives, so that a large frame is never in memory as a whole.
 */
export function createFrameReader(
  write: (stream: "stdout" | "stderr", chunk: Buffer) => void,
): (chunk: Buffer) => void {
  let header = Buffer.alloc(0);
  let left = 0;
  let stream: "stdout" | "stderr" = "stdout";
  return (chunk) => {
    let bytes = chunk;
    while (bytes.length > 0) {
      if (left === 0) {
        const taken = bytes.subarray(0, headerBytes - header.length);
        header = Buffer.concat([header, taken]);
        bytes = bytes.subarray(taken.length);
        if (header.length < headerBytes) return;
        stream = header[0] === 2 ? "stderr" : "stdout";
        left = header.readUInt32BE(4);
        header = Buffer.alloc(0);
        continue;
      }
      const content = bytes.subarray(0, left);
      left -= content.length;
      bytes = bytes.subarray(content.length);
      write(stream, content);
    }
  };
}
