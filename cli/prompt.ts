import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";

/** Asks for a secret on the terminal, which is not shown while it is typed. */
export async function askSecret(question: string, signal: AbortSignal): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const asking = createInterface({ input: process.stdin, output: silent, terminal: true });
  process.stderr.write(question);
  try {
    return await asking.question("", { signal });
  } finally {
    asking.close();
    process.stderr.write("\n");
  }
}
