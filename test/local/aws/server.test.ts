import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import type { AwsServer } from "../../../local/aws/http-server.ts";
import { startAwsServer } from "../../../local/aws/server.ts";
import { type JsonService, operation } from "../../../local/aws/service.ts";
import { createFunctions } from "../../../local/lambda/functions.ts";
import { lambdaService } from "../../../local/lambda/server.ts";
import { type SignedCall, signedHeaders, testKey, testKeys } from "../../harness/signing.ts";

const calls: unknown[] = [];
const echo: JsonService = {
  target: "Echo_1",
  operations: {
    Say: operation(z.object({ text: z.string().optional() }), (input) => {
      calls.push(input);
      return input;
    }),
    Break: async () => {
      throw new Error("secret-inside");
    },
  },
};
let server: AwsServer;
let elsewhere: AwsServer;

beforeAll(async () => {
  const functions = createFunctions();
  const raw = [lambdaService(functions)];
  server = await startAwsServer({ json: [echo], raw, credentials: testKeys, region: "us-east-1" });
  elsewhere = await startAwsServer({ json: [echo], credentials: testKeys, mayCall: (arn) => arn === "somebody else" });
});
afterAll(async () => {
  await server.close();
  await elsewhere.close();
});

interface Answer {
  status: number;
  type: string | undefined;
  text: string;
}

function send(headers: Record<string, string>, body: string | Buffer, path = "/", port = server.port): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, path, method: "POST", headers };
    const outgoing = httpRequest(options, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      const type = response.headers["x-amzn-errortype"];
      resolve({
        status: response.statusCode ?? 0,
        type: Array.isArray(type) ? type[0] : type,
        text: Buffer.concat(chunks).toString(),
      });
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

const say = { "content-type": "application/x-amz-json-1.1", "x-amz-target": "Echo_1.Say" };
const signed = (more: Partial<SignedCall> = {}, credentials = testKey) =>
  signedHeaders({ url: server.endpoint, headers: say, body: "{}", service: "echo", ...more }, credentials);

describe("the port of the embedded AWS services", () => {
  it("runs a call that is signed with the service's key", async () => {
    const body = '{"text":"é"}';
    expect(await send(await signed({ body }), body)).toMatchObject({ status: 200, text: body });
  });

  it.each<[string, string, () => Promise<Record<string, string>>]>([
    ["without a signature", "MissingAuthenticationTokenException", async () => say],
    [
      "with another secret",
      "InvalidSignatureException",
      () => signed({}, { ...testKey, secretAccessKey: "another secret" }),
    ],
    ["with an unknown key", "UnrecognizedClientException", () => signed({}, { ...testKey, accessKeyId: "stranger" })],
    [
      "with a session token",
      "UnrecognizedClientException",
      () => signed({}, { ...testKey, accessKeyId: "ASIA", sessionToken: "x" }),
    ],
    ["with a signature for another body", "InvalidSignatureException", () => signed({ body: '{"text":"other"}' })],
    [
      "with another operation than the signed one",
      "InvalidSignatureException",
      async () => ({ ...(await signed({ headers: { ...say, "x-amz-target": "Echo_1.Break" } })), ...say }),
    ],
    [
      "with an operation that is not signed",
      "InvalidSignatureException",
      async () => ({ ...(await signed({ headers: {} })), ...say }),
    ],
    ["with a bearer token", "IncompleteSignatureException", async () => ({ ...say, authorization: "Bearer x" })],
    [
      "with two lists of signed headers",
      "IncompleteSignatureException",
      async () => {
        const headers = await signed();
        return { ...headers, authorization: `${headers.authorization}, SignedHeaders=host` };
      },
    ],
  ])("refuses a call %s", async (_, code, headers) => {
    calls.length = 0;
    const answer = await send(await headers(), "{}");
    expect(answer).toMatchObject({ status: 403, type: code });
    expect(JSON.parse(answer.text)).toMatchObject({ __type: code });
    expect(calls).toEqual([]);
  });

  it("refuses a Lambda invocation that is not signed", async () => {
    const answer = await send({}, "{}", "/2015-03-31/functions/operator/invocations");
    expect(answer).toMatchObject({ status: 403, type: "MissingAuthenticationTokenException" });
  });

  it("refuses a signed call from a web page, and one whose Host is not this machine", async () => {
    const { port } = server;
    for (const origin of ["https://evil.example", `http://127.0.0.1:${port}`, "null"]) {
      const answer = await send({ ...(await signed()), origin }, "{}");
      expect(answer).toMatchObject({ status: 403, type: "AccessDeniedException" });
    }
    for (const host of ["evil.example", `evil.example:${port}`, `127.0.0.1:${port}.evil.example`, "127.0.0.1"]) {
      const answer = await send(await signed({ headers: { ...say, host } }), "{}");
      expect(answer).toMatchObject({ status: 403, type: "AccessDeniedException" });
    }
    const headers = { ...say, host: `localhost:${port}` };
    expect(await send(await signed({ headers }), "{}")).toMatchObject({ status: 200 });
  });

  it("refuses a key that is valid but may not call these services", async () => {
    const headers = await signed({ url: elsewhere.endpoint });
    expect(await send(headers, "{}", "/", elsewhere.port)).toMatchObject({
      status: 403,
      type: "AccessDeniedException",
    });
  });

  it("answers an unsigned request without reading its body, and accepts bodies of its own clients up to a limit", async () => {
    const endless = new Promise<number>((resolve, reject) => {
      const headers = { ...say, "transfer-encoding": "chunked" };
      const options = { host: "127.0.0.1", port: server.port, method: "POST", headers };
      const outgoing = httpRequest(options, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
        outgoing.destroy();
      });
      outgoing.on("error", reject);
      outgoing.write("{");
    });
    expect(await endless).toBe(403);
    const large = Buffer.alloc(8 * 1024 * 1024 + 1, " ");
    const headers = await signed({ body: large });
    const unsent = { ...headers, "content-length": String(large.length) };
    const refused = new Promise<number>((resolve, reject) => {
      const options = { host: "127.0.0.1", port: server.port, method: "POST", headers: unsent };
      const outgoing = httpRequest(options, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
        outgoing.destroy();
      });
      outgoing.on("error", reject);
      outgoing.write("{");
    });
    expect(await refused).toBe(413);
  });

  it.each(["{", "[]", "null", '"text"', "1", Buffer.from([0x7b, 0xff, 0x7d])])(
    "refuses the body %j, which is not a JSON object, without quoting it",
    async (body) => {
      const answer = await send(await signed({ body }), body);
      expect(answer).toMatchObject({ status: 400, type: "SerializationException" });
    },
  );

  it("refuses a Lambda event that is not JSON", async () => {
    const path = "/2015-03-31/functions/ping/invocations";
    const headers = await signedHeaders({ url: server.endpoint + path, body: "{", service: "lambda" }, testKey);
    expect(await send(headers, "{", path)).toMatchObject({ status: 400, type: "InvalidRequestContentException" });
  });

  it.each<[string, Record<string, string>, number, string | undefined]>([
    ["a dry run", { "x-amz-invocation-type": "DryRun" }, 204, undefined],
    ["an asynchronous call", { "x-amz-invocation-type": "Event" }, 400, "InvalidParameterValueException"],
    ["a log with the answer", { "x-amz-log-type": "Tail" }, 400, "InvalidParameterValueException"],
  ])("answers %s of a function as Lambda does, or refuses it", async (_, headers, status, type) => {
    const path = "/2015-03-31/functions/not-found/invocations";
    const call = await signedHeaders({ url: server.endpoint + path, headers, body: "{}", service: "lambda" }, testKey);
    expect(await send(call, "{}", path)).toMatchObject({ status, type });
  });

  it("reports an unknown function in a dry run, and refuses an event that is not JSON there too", async () => {
    const headers = { "x-amz-invocation-type": "DryRun" };
    for (const [name, body, status] of [
      ["nothing", "{}", 404],
      ["not-found", "{", 400],
    ] as const) {
      const path = `/2015-03-31/functions/${name}/invocations`;
      const call = await signedHeaders({ url: server.endpoint + path, headers, body, service: "lambda" }, testKey);
      expect((await send(call, body, path)).status).toBe(status);
    }
  });

  it("names an unknown operation in its error, but not the cause of an internal error", async () => {
    const unknown = await signed({ headers: { ...say, "x-amz-target": "Echo_1.Nothing" } });
    expect(await send(unknown, "{}")).toMatchObject({ status: 400, type: "UnknownOperationException" });
    const broken = await send(await signed({ headers: { ...say, "x-amz-target": "Echo_1.Break" } }), "{}");
    expect(broken).toMatchObject({ status: 500, type: "InternalFailure" });
    expect(broken.text).not.toContain("secret-inside");
  });
});
