import { signal } from "@preact/signals";
import { AuthenticationError, Slipway } from "../sdk/browser.ts";
import type { CallOptions } from "../sdk/send.ts";

export interface User {
  id: string;
  name: string;
  email: string;
}

interface Bearer {
  token: string;
  /** By the page's own clock (`performance.now()`), because the clock of the computer may be wrong. */
  endsAtMs: number;
}

/** Who is signed in: undefined until it is known, null if the user is not signed in. */
export const user = signal<User | null | undefined>(undefined);
/** Whether the session ended while a page was open. Then a dialog asks the user to sign in again, and the page stays as it is. */
export const interrupted = signal(false);

/** The routes of the session need no bearer. */
const anonymous = new Slipway({ token: "none", attemptsMax: 2 });
const renewBeforeMs = 45_000;

const notSignedIn = () => new AuthenticationError("unauthorized", "You are not signed in.", { status: 401 });
/** The same address as in the preload of `console/bundle.ts`. */
const sessionPath = "/console/session";

let bearer: Bearer | undefined;
let renewal: Promise<void> | undefined;
let waiting: { resolve(): void; reject(error: unknown): void }[] = [];

interface SignedIn {
  session: { token: string; expiresAt: string; user: User };
}

/** Calls a route that answers with a session, and keeps its bearer in memory. */
async function begin(call: (options: CallOptions) => Promise<SignedIn>): Promise<void> {
  let servedAt = Date.now();
  const { session } = await call({
    onAnswer: ({ headers }) => {
      servedAt = Date.parse(headers.get("date") ?? "") || servedAt;
    },
  });
  const lifetimeMs = Date.parse(session.expiresAt) - servedAt;
  // The page still shows data of the previous user.
  if (user.value && user.value.id !== session.user.id) return location.reload();
  bearer = { token: session.token, endsAtMs: performance.now() + lifetimeMs };
  user.value = session.user;
  interrupted.value = false;
  for (const { resolve } of waiting) resolve();
  waiting = [];
}

/** Waits until the user has signed in again in the dialog; rejects if the user closes it. */
function untilSignedIn(): Promise<void> {
  interrupted.value = true;
  return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
}

let isAsked = false;

/** The browser's session. The first call uses the answer of the page's preload, which was requested before any script ran. */
async function getSession(options: CallOptions): Promise<SignedIn> {
  if (!isAsked) {
    isAsked = true;
    const answer = await fetch(sessionPath).catch(() => undefined);
    if (answer?.status === 401) throw notSignedIn();
    if (answer?.ok) {
      options.onAnswer?.({ status: 200, requestId: undefined, retryAfterSeconds: undefined, headers: answer.headers });
      return answer.json();
    }
  }
  return anonymous.getConsoleSession({}, options);
}

async function renew(): Promise<void> {
  try {
    await begin(getSession);
  } catch (error) {
    if (!(error instanceof AuthenticationError)) throw error;
    bearer = undefined;
    if (user.value) return untilSignedIn();
    user.value = null;
    throw error;
  }
}

/** Resolves when there is a bearer that is valid for a while. Concurrent calls share one renewal. */
export async function signedIn(): Promise<void> {
  if (bearer && bearer.endsAtMs - performance.now() > renewBeforeMs) return;
  renewal ??= renew().finally(() => {
    renewal = undefined;
  });
  await renewal;
}

/** The bearer for the client; throws if no user is signed in. */
export function currentToken(): string {
  if (!bearer) throw notSignedIn();
  return bearer.token;
}

/** Forgets a bearer that the service refused, unless another one has replaced it. */
export function refused(token: string | undefined): void {
  if (bearer?.token === token) bearer = undefined;
}

/** The bearer that is in use now, if any. */
export const knownToken = (): string | undefined => bearer?.token;

/** Signs in with the code of a one-time link. */
export const signInWithCode = (code: string) => begin((options) => anonymous.createConsoleSession({ code }, options));

/** Signs in with a passkey that the browser or the person chooses. */
export async function signInWithPasskey(): Promise<void> {
  const { startAuthentication } = await import("./passkeys.ts");
  const { options } = await anonymous.beginPasskeySignIn();
  type Input = Parameters<typeof anonymous.signInWithPasskey>[0];
  // biome-ignore lint/suspicious/noExplicitAny: the service made the options for the browser, and checks the answer
  const response = (await startAuthentication({ optionsJSON: options as any })) as unknown as Input["response"];
  await begin((call) => anonymous.signInWithPasskey({ response }, call));
}

/** Checks again for a session, for example after signing in on another tab. */
export const lookAgain = () => begin((options) => anonymous.getConsoleSession({}, options)).catch(() => undefined);

/** Closes the dialog without signing in: calls that wait for it fail. */
export function stopWaiting(): void {
  interrupted.value = false;
  const error = notSignedIn();
  for (const { reject } of waiting) reject(error);
  waiting = [];
}

/** Forgets everything about the session, after the service has ended it. */
export function forget(): void {
  bearer = undefined;
  user.value = null;
}

/** Ends this browser's session. */
export async function signOut(): Promise<void> {
  await anonymous.deleteConsoleSession();
  forget();
}
