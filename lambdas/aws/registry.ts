import { refusalOf } from "./refusal.ts";
import { type Credentials, ownRegion, signedPost } from "./signature.ts";

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
  const url = new URL(process.env.AWS_ENDPOINT_URL_ECR ?? `https://api.ecr.${ownRegion()}.amazonaws.com`);
  const headers = {
    "content-type": "application/x-amz-json-1.1",
    "x-amz-target": `AmazonEC2ContainerRegistry_V20150921.${call}`,
  };
  const answer = await signedPost("ecr", url, headers, JSON.stringify(input), { credentials });
  if (answer.status === 200) return JSON.parse(answer.body);
  throw new RegistryError(refusalOf(answer.body)?.name ?? "UnknownError", call, answer.status);
}
