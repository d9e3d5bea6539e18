import * as z from "zod";
import type { Credentials } from "./signature.ts";
import { signedPost } from "./signer.ts";

const failure = z.object({ __type: z.string() });

/** The registry said no; its name is the exception's, as ECR documents it. */
class RegistryError extends Error {
  constructor(name: string, call: string, status: number) {
    super(`ECR answered ${call} with ${name}, status ${status}`);
    this.name = name;
  }
}

/** The three calls of ECR that are made; its own SDK client would be another package for them. */
type RegistryCall = "CreateRepository" | "GetAuthorizationToken" | "PutLifecyclePolicy";

/** One call of ECR, as the function itself or with the credentials given; throws RegistryError. */
export async function callRegistry(call: RegistryCall, input: object, credentials?: Credentials): Promise<unknown> {
  const region = process.env.AWS_REGION ?? "us-east-1";
  const url = new URL(process.env.AWS_ENDPOINT_URL_ECR ?? `https://api.ecr.${region}.amazonaws.com`);
  const headers = {
    "content-type": "application/x-amz-json-1.1",
    "x-amz-target": `AmazonEC2ContainerRegistry_V20150921.${call}`,
  };
  const answer = await signedPost("ecr", url, headers, JSON.stringify(input), credentials);
  if (answer.status === 200) return JSON.parse(answer.body);
  const said = failure.safeParse(parsed(answer.body));
  throw new RegistryError(said.data?.__type.replace(/^.*#/, "") ?? "UnknownError", call, answer.status);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
