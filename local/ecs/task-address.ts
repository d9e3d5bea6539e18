import { createServer } from "node:net";

const preferred = "127.0.0.2";
let known: Promise<string> | undefined;

function canListen(host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(0, host, () => server.close(() => resolve(true)));
  });
}

/**
 * The address at which the gateway reaches tasks. In a container, an app that listens only on 127.0.0.1 cannot be
 * reached from outside. With 127.0.0.2 the same app fails here too, while an app that listens on all interfaces works.
 * Linux has all addresses of 127.0.0.0/8. Where 127.0.0.2 does not exist (macOS), 127.0.0.1 is used and the app works.
 */
export function taskAddress(): Promise<string> {
  known ??= canListen(preferred).then((can) => (can ? preferred : "127.0.0.1"));
  return known;
}
