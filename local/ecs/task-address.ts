import { createServer } from "node:net";

const apart = "127.0.0.2";
let known: Promise<string> | undefined;

function canListen(host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(0, host, () => server.close(() => resolve(true)));
  });
}

/**
 * The address at which tasks are reached. An app that listens on 127.0.0.1 only cannot be reached from outside its
 * container; it is not reached at 127.0.0.2 either, while one that listens on all interfaces is. Linux has the whole of
 * 127.0.0.0/8; where this address does not exist (macOS), such an app is served here all the same.
 */
export function taskAddress(): Promise<string> {
  known ??= canListen(apart).then((can) => (can ? apart : "127.0.0.1"));
  return known;
}
