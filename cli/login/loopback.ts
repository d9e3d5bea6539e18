import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Failure } from "../failure.ts";

/** As long as a code of the console is valid, and the time to read the page. */
const waitSecondsMax = 600;

const pages = {
  done: [200, "You are logged in", "You can close this page and go back to the terminal."],
  declined: [200, "Nothing was connected", "You declined. You can close this page."],
  foreign: [400, "This is not the page that you were sent to", "Go back to the terminal and run slipway login again."],
} as const;

function show(response: ServerResponse, page: keyof typeof pages): void {
  const [status, title, text] = pages[page];
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>${text}</p></html>`;
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'",
    "referrer-policy": "no-referrer",
    connection: "close",
  });
  response.end(html);
}

/**
 * Waits on 127.0.0.1 until the console sends the browser back with a code. Requests without the right `state` are of
 * other pages, and change nothing. `onReady` gets the address to send the browser back to.
 */
export async function waitForCode(
  state: string,
  signal: AbortSignal,
  onReady: (redirect: string) => Promise<void>,
): Promise<string> {
  let resolve: (code: string) => void = () => undefined;
  let reject: (reason: Failure) => void = () => undefined;
  const answered = new Promise<string>((done, fail) => {
    [resolve, reject] = [done, fail];
  });
  // The browser may come back before anything waits for it.
  answered.catch(() => undefined);
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://127.0.0.1");
    const code = searchParams.get("code");
    const isOurs = request.method === "GET" && pathname === "/" && searchParams.get("state") === state;
    if (isOurs && code) {
      show(response, "done");
      response.once("close", () => resolve(code));
    } else if (isOurs && searchParams.has("error")) {
      show(response, "declined");
      response.once("close", () => reject(new Failure("The login was declined in the console.")));
    } else show(response, "foreign");
  });
  const stopWaiting = new AbortController();
  try {
    await new Promise<void>((done, fail) => server.once("error", fail).listen(0, "127.0.0.1", done));
    await onReady(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const timeout = sleep(waitSecondsMax * 1000, undefined, {
      signal: AbortSignal.any([signal, stopWaiting.signal]),
    }).then(() => {
      throw new Failure(`Nothing was agreed to within ${waitSecondsMax / 60} minutes. Run slipway login again.`);
    });
    return await Promise.race([answered, timeout]);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    stopWaiting.abort();
    server.close();
    server.closeAllConnections();
  }
}
