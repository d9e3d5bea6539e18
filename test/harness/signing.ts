import { readFileSync } from "node:fs";
import { join } from "node:path";
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { SignatureV4 } from "@smithy/signature-v4";
import * as z from "zod";
import type { Keys } from "../../local/aws/signature/verify.ts";
import { Sha256 } from "../local/sts/sha256.ts";

export interface KeyPair {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

/** The key for tests that start single embedded services. */
export const testKey: KeyPair = { accessKeyId: "local", secretAccessKey: "local" };

const keysOf = (pair: () => Partial<KeyPair>): Keys => ({
  find(accessKeyId) {
    const { accessKeyId: known, secretAccessKey } = pair();
    if (known !== accessKeyId || secretAccessKey === undefined) return undefined;
    return { secretAccessKey, principalArn: "arn:aws:iam::000000000000:root" };
  },
});

/** Finds only `testKey`. */
export const testKeys = keysOf(() => testKey);

/** Finds the key in this process's environment at the time of the request: the root key of the running service. */
export const environmentKeys = keysOf(() => ({
  ...(process.env.AWS_ACCESS_KEY_ID && { accessKeyId: process.env.AWS_ACCESS_KEY_ID }),
  ...(process.env.AWS_SECRET_ACCESS_KEY && { secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY }),
}));

export interface SignedCall {
  url: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  service: string;
}

/** The headers of a signed request, with `host`, for tests that change or forward requests. */
export async function signedHeaders(call: SignedCall, credentials: KeyPair): Promise<Record<string, string>> {
  const { protocol, hostname, port, host, pathname, searchParams } = new URL(call.url);
  const signer = new SignatureV4({ credentials, region: "us-east-1", service: call.service, sha256: Sha256 });
  const request = {
    method: call.method ?? "POST",
    protocol,
    hostname,
    port: Number(port),
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: { host, ...call.headers },
    body: call.body ?? "",
  };
  return (await signer.sign(request)).headers;
}

const runtimeFile = z.object({ awsEndpoint: z.string(), accessKeyId: z.string(), secretAccessKey: z.string() });

/** The endpoint of the embedded services of a running service, and the key that they accept. */
export function runtimeOf(home: string): { endpoint: string; credentials: KeyPair } {
  const { awsEndpoint, ...credentials } = runtimeFile.parse(
    JSON.parse(readFileSync(join(home, "runtime.json"), "utf8")),
  );
  return { endpoint: awsEndpoint, credentials };
}

/** Invokes a function of the service with this data folder; returns its output, or throws its error. */
export async function invokeFunction(home: string, name: string, event: object): Promise<unknown> {
  const client = new LambdaClient({ ...runtimeOf(home), region: "us-east-1", maxAttempts: 1 });
  try {
    const command = new InvokeCommand({ FunctionName: name, Payload: Buffer.from(JSON.stringify(event)) });
    const { Payload, FunctionError } = await client.send(command);
    const text = Buffer.from(Payload ?? []).toString("utf8");
    if (FunctionError) throw new Error(text);
    return JSON.parse(text);
  } finally {
    client.destroy();
  }
}
