import { type Browser, type CDPSession, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { userOfToken } from "../../local/seed.ts";
import { findChromium } from "../harness/browser.ts";
import { type Running, startRunning } from "../harness/service.ts";

const executablePath = findChromium();

interface Sent {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the service answered
  body: any;
}

/** Runs in the page: a request of the page's own origin, with the browser's cookies. */
const fetchInPage = `async ({ method, path, body, bearer }) => {
  const headers = { "content-type": "application/json", ...(bearer && { authorization: "Bearer " + bearer }) };
  const answer = await fetch(path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return { status: answer.status, body: await answer.json() };
}`;
const createInPage = `async (options) => (await navigator.credentials.create({
  publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options),
})).toJSON()`;
const getInPage = `async (options) => (await navigator.credentials.get({
  publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options),
})).toJSON()`;

describe.skipIf(!executablePath)("passkeys in a real browser with a virtual authenticator", () => {
  let running: Running;
  let browser: Browser;
  let page: Page;
  let devtools: CDPSession;
  let authenticatorId: string;
  let userId: string;

  const inPage = (source: string, argument: unknown) => page.evaluate(`(${source})(${JSON.stringify(argument)})`);
  const send = async (method: string, path: string, body?: unknown, bearer?: string): Promise<Sent> =>
    (await inPage(fetchInPage, { method, path, body, bearer })) as Sent;

  beforeAll(async () => {
    running = await startRunning();
    userId = userOfToken(running.seed.token) ?? "";
    browser = await chromium.launch({ executablePath: String(executablePath), args: ["--no-sandbox"] });
    page = await browser.newPage();
    const port = new URL(running.seed.baseUrl).port;
    await page.goto(`http://localhost:${port}/docs`);
    devtools = await page.context().newCDPSession(page);
    await devtools.send("WebAuthn.enable");
    const added = await devtools.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        protocol: "ctap2",
        transport: "internal",
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    authenticatorId = added.authenticatorId;
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await running?.stop();
  });

  async function signInWithLink(): Promise<string> {
    const { url } = await running.operator("create-sign-in-link", { userId });
    const { status, body } = await send("POST", "/console/session", { code: String(url).split("#code=")[1] });
    expect(status).toBe(201);
    return body.session.token;
  }
  async function make(bearer: string): Promise<unknown> {
    const { body } = await send("POST", "/console/passkeys/options", undefined, bearer);
    return inPage(createInPage, body.options);
  }
  async function assertion(): Promise<{ response: { signature: string } }> {
    const { body } = await send("POST", "/console/passkeys/sign-in-options");
    return (await inPage(getInPage, body.options)) as { response: { signature: string } };
  }
  const use = (response: unknown) => send("POST", "/console/passkeys/sign-in", { response });

  test("a user adds a passkey, signs in with it, and deletes it", async () => {
    const bearer = await signInWithLink();
    const added = await send("POST", "/console/passkeys", { name: " Laptop ", response: await make(bearer) }, bearer);
    expect(added.status).toBe(201);
    expect(added.body.passkey).toMatchObject({ name: "Laptop", lastUsedAt: null });
    expect((await send("DELETE", "/console/session")).status).toBe(200);
    expect((await send("GET", "/console/session")).status).toBe(401);

    const response = await assertion();
    const signedIn = await use(response);
    expect([signedIn.status, signedIn.body.session?.user.id]).toEqual([201, userId]);
    // The browser keeps the cookie that this route sets, and sends it to the session's own route.
    const fresh = await send("GET", "/console/session");
    expect([fresh.status, fresh.body.session.user.id]).toEqual([200, userId]);
    expect(await page.evaluate("document.cookie")).toBe("");
    expect((await use(response)).status).toBe(401);

    const token = fresh.body.session.token;
    const { body } = await send("GET", "/me/passkeys", undefined, token);
    expect(body.passkeys).toEqual([{ ...added.body.passkey, lastUsedAt: expect.any(String) }]);
    const later = await assertion();
    expect((await send("DELETE", `/me/passkeys/${added.body.passkey.id}`, undefined, token)).status).toBe(200);
    expect((await use(later)).status).toBe(401);
    await devtools.send("WebAuthn.clearCredentials", { authenticatorId });
  });

  test("a response with another signature, challenge or user, or without the user's verification, is refused", async () => {
    const bearer = await signInWithLink();
    const response = await make(bearer);
    expect((await send("POST", "/console/passkeys", { name: "Key", response }, bearer)).status).toBe(201);
    const again = await send("POST", "/console/passkeys", { name: "Key", response }, bearer);
    expect([again.status, again.body.code]).toEqual([400, "invalid_request"]);

    const good = await assertion();
    const signature = `${good.response.signature.slice(0, -6)}AAAAAA`;
    expect((await use({ ...good, response: { ...good.response, signature } })).status).toBe(401);
    const userHandle = Buffer.from("usr_00000000000000000000000000").toString("base64url");
    expect((await use({ ...good, response: { ...good.response, userHandle } })).status).toBe(401);
    const clientDataJSON = Buffer.from('{"challenge":"unknown"}').toString("base64url");
    expect((await use({ ...good, response: { ...good.response, clientDataJSON } })).status).toBe(401);
    expect((await use(good)).status).toBe(201);

    await devtools.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false });
    await expect(assertion()).rejects.toThrow(/NotAllowedError/);
    await devtools.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: true });
    await devtools.send("WebAuthn.clearCredentials", { authenticatorId });
  });

  test("a token cannot add a passkey, and a challenge for one user is no other's", async () => {
    const byToken = await send("POST", "/console/passkeys/options", undefined, running.seed.token);
    expect([byToken.status, byToken.body.code]).toEqual([403, "sign_in_needed"]);
    // The refusal comes before that of the input.
    const withoutInput = await send("POST", "/console/passkeys", {}, running.seed.token);
    expect([withoutInput.status, withoutInput.body.code]).toEqual([403, "sign_in_needed"]);
    const { user } = await running.operator("create-user", { email: "two@example.com", name: "Two" });
    const { url } = await running.operator("create-sign-in-link", { userId: user?.id });
    const other = await send("POST", "/console/session", { code: String(url).split("#code=")[1] });
    const response = await make(await signInWithLink());
    const stolen = await send("POST", "/console/passkeys", { name: "Key", response }, other.body.session.token);
    expect(stolen.status).toBe(400);
  });
});
