import { AuthenticationError, Slipway } from "../sdk/browser.ts";
import { currentToken, knownToken, refused, signedIn } from "./session.ts";

const raw = new Slipway({ token: currentToken });

/** Methods that make several calls: they must not be repeated from the beginning. */
const compositions: ReadonlySet<PropertyKey> = new Set(["deploy", "waitForBuild", "uploadFile", "downloadFile"]);

type Call = (...input: unknown[]) => Promise<unknown>;

/** Renews the session before the call if needed. If the service refuses the bearer, renews it and repeats the call. */
async function inSession(call: () => Promise<unknown>, isRepeatable: boolean): Promise<unknown> {
  await signedIn();
  const token = knownToken();
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof AuthenticationError) || !isRepeatable) throw error;
    refused(token);
    await signedIn();
    return await call();
  }
}

/** The client of the signed-in user. A call waits while the user signs in again. */
export const client: Slipway = new Proxy(raw, {
  get(target, name) {
    const method: unknown = Reflect.get(target, name);
    // `iterate` is a generator; the call of each page gets the bearer itself.
    if (typeof method !== "function" || name === "iterate") return method;
    const call = method as Call;
    return (...input: unknown[]) => inSession(() => call.apply(target, input), !compositions.has(name));
  },
});
