import { createHash } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, QueryCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { userOfToken } from "../../local/seed.ts";
import { type Answer, type Running, startRunning } from "../harness/service.ts";

const verifier = "a-verifier.of~a_tool-with-enough-characters-in-it";
const challenge = createHash("sha256").update(verifier).digest("base64url");
const refused = [401, "A valid credential is required."];

describe("connecting a tool through the console", () => {
  let running: Running;
  let userId: string;
  let bearer: string;

  const signIn = async (of = userId) => {
    const { url } = (await running.operator("create-sign-in-link", { userId: of })) as unknown as { url: string };
    const code = url.split("#code=")[1];
    const { body } = await running.call("POST", "/console/session", { bearer: null, body: { code } });
    return String(body.session.token);
  };
  const agree = (body: object = {}, by = bearer) =>
    running.call("POST", "/console/connect", { bearer: by, body: { challenge, tool: "slipway", ...body } });
  const exchange = (code: unknown, by: unknown = verifier) =>
    running.call("POST", "/console/connect/token", { bearer: null, body: { code, verifier: by } });
  const codeOf = ({ status, body }: Answer) => {
    expect(status).toBe(201);
    return String(body.code);
  };
  const outcome = ({ status, body }: Answer) => [status, body.message];

  beforeAll(async () => {
    running = await startRunning(mkdtempSync(join(tmpdir(), "slipway-connect-")));
    userId = userOfToken(running.seed.token) ?? "";
    bearer = await signIn();
  }, 60_000);
  afterAll(() => running.stop());

  test("a code is valid for five minutes and gives a token of the access that the user agreed to", async () => {
    const agreed = await agree({ tool: " My tool ", access: "deploy", organizationIds: [running.seed.organizationId] });
    expect(agreed.body).toEqual({ code: expect.stringMatching(/^slc_/), expiresAt: expect.any(String) });
    expect(Math.round((Date.parse(agreed.body.expiresAt) - Date.now()) / 60_000)).toBe(5);
    const { status, body } = await exchange(codeOf(agreed));
    expect([status, body.token]).toEqual([
      201,
      {
        id: expect.stringMatching(/^tok_/),
        value: expect.stringMatching(/^slp_/),
        description: "My tool",
        access: "deploy",
        organizationIds: [running.seed.organizationId],
        createdAt: expect.any(String),
        expiresAt: null,
        lastUsedAt: null,
      },
    ]);
    const by = String(body.token.value);
    expect((await running.call("POST", `${running.project}/builds`, { bearer: by })).status).toBe(201);
    const beyond = await running.call("POST", `${running.project}/environments`, { bearer: by });
    expect([beyond.status, beyond.body.code]).toEqual([403, "token_scope"]);
    const { body: listed } = await running.call("GET", "/me/tokens", { bearer });
    const { value: _, ...shown } = body.token;
    expect(listed.tokens).toContainEqual({ ...shown, lastUsedAt: expect.any(String) });
  });

  test("without limits the token reaches everything that the user reaches", async () => {
    const { body } = await exchange(codeOf(await agree({ organizationIds: null })));
    expect(body.token).toMatchObject({ description: "slipway", access: "all", organizationIds: null });
    expect((await running.call("GET", running.project, { bearer: body.token.value })).status).toBe(200);
  });

  test("of many requests with one code one gets a token, and later ones none", async () => {
    const code = codeOf(await agree());
    const answers = await Promise.all(Array.from({ length: 8 }, () => exchange(code)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(401)]);
    expect(outcome(await exchange(code))).toEqual(refused);
  });

  test("a wrong verifier gets nothing, and the right one still gets the token", async () => {
    const code = codeOf(await agree());
    for (const wrong of [`${verifier}x`, challenge, "", "short"]) {
      expect(outcome(await exchange(code, wrong))).toEqual(refused);
    }
    expect((await exchange(code, 7)).status).toBe(400);
    expect((await exchange(code)).status).toBe(201);
  });

  test("a verifier that is shorter than the standard asks for is refused, whatever its challenge", async () => {
    const short = createHash("sha256").update("short").digest("base64url");
    expect(outcome(await exchange(codeOf(await agree({ challenge: short })), "short"))).toEqual(refused);
  });

  test("an unknown code, an expired one, and one whose user signed out are the same 401", async () => {
    expect(outcome(await exchange("slc_unknown"))).toEqual(refused);
    const old = codeOf(await agree());
    const table = DynamoDBDocumentClient.from(new DynamoDBClient({}));
    await table.send(
      new UpdateCommand({
        TableName: "slipway",
        Key: { pk: `CODE#${createHash("sha256").update(old).digest("base64url")}`, sk: "CODE" },
        UpdateExpression: "SET expiresAt = :at",
        ConditionExpression: "attribute_exists(pk)",
        ExpressionAttributeValues: { ":at": new Date().toISOString() },
      }),
    );
    table.destroy();
    expect(outcome(await exchange(old))).toEqual(refused);

    const elsewhere = await signIn();
    const code = codeOf(await agree({}, elsewhere));
    const { body } = await running.call("GET", "/me/sessions", { bearer: elsewhere });
    const current = body.sessions.find(({ isCurrent }: { isCurrent: boolean }) => isCurrent);
    await running.call("DELETE", `/me/sessions/${current.id}`, { bearer: elsewhere });
    expect(outcome(await exchange(code))).toEqual(refused);
  });

  test("only the console agrees: not a token, which could widen its own access, and not a key", async () => {
    const byToken = await agree({}, running.seed.token);
    expect([byToken.status, byToken.body.code]).toEqual([403, "sign_in_needed"]);
    const withoutInput = await agree({ challenge: 7 }, running.seed.token);
    expect([withoutInput.status, withoutInput.body.code]).toEqual([403, "sign_in_needed"]);
    const byKey = await running.call("POST", "/console/connect", { body: { challenge, tool: "slipway" } });
    expect([byKey.status, byKey.body.code]).toEqual([403, "users_only"]);
  });

  test("organizations that are not the user's cannot be agreed to", async () => {
    const { organization } = await running.operator("create-organization", { name: "Of others" });
    const own = running.seed.organizationId;
    for (const organizationIds of [[organization?.id], [own, organization?.id], ["org_x"], []]) {
      const { status, body } = await agree({ organizationIds });
      expect([status, body.issues?.[0]?.path]).toEqual([400, "organizationIds"]);
    }
  });

  test.each<[string, object, string]>([
    ["no challenge", { challenge: undefined }, "challenge"],
    ["a challenge that is no SHA-256", { challenge: "x".repeat(42) }, "challenge"],
    ["no name of the tool", { tool: "  " }, "tool"],
    ["a name that is too long", { tool: "x".repeat(65) }, "tool"],
    ["a name with a line break", { tool: "one\ntwo" }, "tool"],
    ["a name that turns the direction of writing", { tool: "gp4.\u202Eexe" }, "tool"],
    ["an unknown access", { access: "admin" }, "access"],
  ])("%s is a 400", async (_, body, path) => {
    const answer = await agree(body);
    expect([answer.status, answer.body.issues?.map((issue: { path: string }) => issue.path)]).toEqual([400, [path]]);
  });

  test("the event names the user, their session and the token", async () => {
    const { body } = await exchange(codeOf(await agree()));
    const table = DynamoDBDocumentClient.from(new DynamoDBClient({}));
    const { Items } = await table.send(
      new QueryCommand({
        TableName: "slipway",
        KeyConditionExpression: "pk = :pk",
        ExpressionAttributeValues: { ":pk": `EVT#${userId}` },
      }),
    );
    table.destroy();
    const made = Items?.find(({ ids }) => ids.tokenId === body.token.id);
    expect(made).toMatchObject({
      action: "connect-tool",
      outcome: "done",
      actor: { kind: "user", userId, sessionId: expect.any(String) },
    });
    expect(JSON.stringify(Items)).not.toContain(body.token.value);
  });
});
