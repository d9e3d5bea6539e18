import * as z from "zod";
import { type Signing, signedCall } from "./signed-call.ts";

/** Whose registry; each call is signed at its own time, since there can be thousands. */
export type Account = Omit<Signing, "now">;

const page = z.object({
  repositories: z.array(z.object({ repositoryName: z.string() })),
  nextToken: z.string().nullish(),
});
const failure = z.object({ __type: z.string() });

async function registry(operation: string, input: object, account: Account): Promise<unknown> {
  const url = new URL(process.env.AWS_ENDPOINT_URL_ECR ?? `https://api.ecr.${account.region}.amazonaws.com/`);
  const target = `AmazonEC2ContainerRegistry_V20150921.${operation}`;
  const { ok, body } = await signedCall({ service: "ecr", target, url, input }, { ...account, now: new Date() });
  if (ok) return body;
  const { __type: name } = failure.catch({ __type: "an error" }).parse(body);
  if (operation === "DeleteRepository" && name.endsWith("RepositoryNotFoundException")) return undefined;
  throw new Error(`ECR answered ${operation} with ${name}. Mend it, then run this again.`);
}

/** The names of the repositories that image builds made for a stack's projects: all below its prefix, and no other. */
export async function projectRepositories(prefix: string, account: Account): Promise<string[]> {
  const names: string[] = [];
  let token: string | null | undefined;
  do {
    const input = { maxResults: 1000, ...(token && { nextToken: token }) };
    const { repositories, nextToken } = page.parse(await registry("DescribeRepositories", input, account));
    names.push(...repositories.map(({ repositoryName }) => repositoryName));
    token = nextToken;
  } while (token);
  return names.filter(
    (name) => /^prj_[0-9a-z]{26}$/.test(name.slice(prefix.length + 1)) && name.startsWith(`${prefix}/`),
  );
}

/** Deletes repositories with all their images; one that is gone already is as good. */
export async function deleteRepositories(names: readonly string[], account: Account): Promise<void> {
  for (const repositoryName of names) await registry("DeleteRepository", { repositoryName, force: true }, account);
}
