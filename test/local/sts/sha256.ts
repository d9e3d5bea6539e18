import { createHash, createHmac } from "node:crypto";

/** The hash function that @smithy/signature-v4 needs. */
export class Sha256 {
  readonly #hash;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    const key = secret instanceof ArrayBuffer ? Buffer.from(secret) : secret;
    const keyBytes = ArrayBuffer.isView(key) ? Buffer.from(key.buffer, key.byteOffset, key.byteLength) : key;
    this.#hash = keyBytes === undefined ? createHash("sha256") : createHmac("sha256", keyBytes);
  }

  update(content: Uint8Array): void {
    this.#hash.update(content);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    throw new Error("a hash is used once");
  }
}
