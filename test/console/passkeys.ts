import type { CDPSession, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Passkey } from "../../lambdas/sign-in/model/passkeys.ts";
import { documentClient } from "../../lambdas/table/client.ts";
import { tableWriter } from "../../lambdas/table/writer.ts";
import { browserBundle } from "../../scripts/package/sdk.ts";
import { zipOf } from "../harness/app.ts";
import type { Running } from "../harness/service.ts";
import { chromiumFile, useConsole } from "./harness.ts";

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

describe.skipIf(!chromiumFile)("in a real browser with a virtual authenticator", () => {
  const get = useConsole();
  let running: Running;
  let page: Page;
  let devtools: CDPSession;
  let authenticatorId: string;
  let userId: string;

  const inPage = (source: string, argument: unknown) => page.evaluate(`(${source})(${JSON.stringify(argument)})`);
  const send = async (method: string, path: string, body?: unknown, bearer?: string): Promise<Sent> =>
    (await inPage(fetchInPage, { method, path, body, bearer })) as Sent;

  beforeAll(async () => {
    if (!chromiumFile) return;
    ({ running, userId } = get());
    page = await get().visitSignedOut();
    await page.goto(`${get().origin}/docs`);
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
  afterAll(() => devtools?.detach());

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

  test("the limit holds for passkeys that are added at the same time", async () => {
    const bearer = await signInWithLink();
    const deleteAll = async () => {
      const { passkeys } = (await send("GET", "/me/passkeys", undefined, bearer)).body;
      for (const { id } of passkeys) await send("DELETE", `/me/passkeys/${id}`, undefined, bearer);
      return passkeys.length;
    };
    await deleteAll();
    const writer = tableWriter(documentClient(), "slipway");
    const row = {
      userId,
      name: "Key",
      publicKey: "x",
      counter: 0,
      transports: [],
      createdAt: new Date().toISOString(),
    };
    for (let one = 1; one < 20; one += 1) {
      const id = `stored${one}`;
      const credentialId = Buffer.from(id).toString("base64url");
      await writer.write({ passkey: Passkey.put({ userId, id }, { ...row, id, credentialId }) });
    }
    const responses = [await make(bearer), await make(bearer)];
    const add = (response: unknown) => send("POST", "/console/passkeys", { name: "Key", response }, bearer);
    const added = await Promise.all(responses.map(add));
    const won = added.findIndex(({ status }) => status === 201);
    expect(added.map(({ status }) => status).filter((status) => status === 201)).toHaveLength(1);
    // The other request read the list before or after the first one was written.
    expect(["unavailable", "limit_reached"]).toContain(added[1 - won]?.body.code);
    expect((await add(responses[1 - won])).body).toMatchObject({ status: "Conflict", code: "limit_reached" });
    expect((await send("POST", "/console/passkeys/options", undefined, bearer)).body.code).toBe("limit_reached");
    expect(await deleteAll()).toBe(20);
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
    await devtools.send("WebAuthn.clearCredentials", { authenticatorId });
  });

  test("a user has at most 20", async () => {
    const bearer = await signInWithLink();
    const kept = (await send("GET", "/me/passkeys", undefined, bearer)).body.passkeys.length;
    const stored = Array.from({ length: 19 - kept }, (_, number) => `stored${number}`);
    const createdAt = new Date().toISOString();
    const row = { userId, name: "x", credentialId: "x", publicKey: "x", counter: 0, transports: [], createdAt };
    const writer = tableWriter(documentClient(), "slipway");
    for (const id of stored) await writer.write({ passkey: Passkey.put({ userId, id }, { ...row, id }) });
    const begin = () => send("POST", "/console/passkeys/options", undefined, bearer);
    expect((await begin()).status).toBe(200);
    await writer.write({ passkey: Passkey.put({ userId, id: "last" }, { ...row, id: "last" }) });
    const refused = await begin();
    expect([refused.status, refused.body.code]).toEqual([409, "limit_reached"]);
    expect((await send("DELETE", "/me/passkeys/last", undefined, bearer)).status).toBe(200);
    expect((await begin()).status).toBe(200);
  });

  test("the reference page sends a request that is tried from it, and shows the answer or what is wrong", async () => {
    const form = page.locator("form[data-method=listOrganizations]");
    await page.locator("details", { has: form }).locator("summary").click();
    await form.locator("button").click();
    await form.getByText("Enter a token or a key at the top of the page first.").waitFor();
    await page.locator("#credential").fill(`${running.seed.accessKey}:${running.seed.secretKey}`);
    await form.locator("button").click();
    await form.locator("output").getByText(running.seed.organizationId).waitFor();
    await page.locator("#credential").fill("wrong");
    await form.locator("button").click();
    await form.locator("output").getByText("A valid credential is required.").waitFor();
  });

  test("the SDK calls the service, deploys an archive and moves files from a page", async () => {
    const { baseUrl: _, organizationId: orgId, projectId, storageId, token } = running.seed;
    const archive = (await zipOf({ "notes.txt": "no app" })).toString("base64");
    // The service's own pages have policies that allow no further module; its answer for an unknown path has none.
    const other = await page.context().newPage();
    const body = await browserBundle({ minify: true });
    await other.route("**/sdk.js", (route) => route.fulfill({ contentType: "text/javascript", body }));
    await other.goto(new URL("/nothing", page.url()).href);
    const seen = await other.evaluate(
      `(async ({ archive, token, project, storage }) => {
        const { Slipway, NotFoundError, DeploymentError } = await import("/sdk.js");
        const slipway = new Slipway({ token });
        const bytes = Uint8Array.from(atob(archive), (one) => one.charCodeAt(0));
        const stages = [];
        const onProgress = ({ stage }) => stages.at(-1) === stage || stages.push(stage);
        const failed = await slipway.deploy(bytes, { ...project, onProgress }).catch((error) => error);
        const file = await slipway.uploadFile(new Blob(["hello"]), { ...storage, name: "a.txt", mime: "text/plain" });
        const { stream } = await slipway.downloadFile({ ...storage, fileId: file.id });
        const ids = [];
        for await (const { id } of slipway.iterate("listFiles", storage)) ids.push(id);
        return {
          pong: await slipway.ping(),
          missing: (await slipway.getBuild({ ...project, buildId: "x" }).catch((error) => error)) instanceof NotFoundError,
          failed: [failed instanceof DeploymentError, failed.code],
          stages,
          text: await new Response(stream).text(),
          listed: ids.includes(file.id),
        };
      })(${JSON.stringify({ archive, token, project: { orgId, projectId }, storage: { orgId, storageId } })})`,
    );
    expect(seen).toEqual({
      pong: "pong",
      missing: true,
      failed: [true, "build_failed"],
      stages: expect.arrayContaining(["uploading", "error"]),
      text: "hello",
      listed: true,
    });
    await other.close();
  });
});
