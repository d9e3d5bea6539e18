import { AuthenticationError, Slipway } from "../sdk/browser.ts";
import { currentToken, knownToken, refused, signedIn } from "./session.ts";

const raw = new Slipway({ token: currentToken });

/** Several calls in one: they must not start again from the beginning. */
const compositions: ReadonlySet<PropertyKey> = new Set(["deploy", "waitForBuild", "uploadFile", "downloadFile"]);

type Call = (...input: unknown[]) => Promise<unknown>;

/** Renews the session when it is needed, also when the service refuses the bearer in the middle, and then calls again. */
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

/** The service, as the user who is signed in. A call waits while the person signs in again. */
export const client: Slipway = new Proxy(raw, {
  get(target, name) {
    const method: unknown = Reflect.get(target, name);
    // `iterate` is a generator: each of its pages asks for the bearer.
    if (typeof method !== "function" || name === "iterate") return method;
    const call = method as Call;
    return (...input: unknown[]) => inSession(() => call.apply(target, input), !compositions.has(name));
  },
});
