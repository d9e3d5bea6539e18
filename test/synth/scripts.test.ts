import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { ECRClient } from "@aws-sdk/client-ecr";
import { IAMClient } from "@aws-sdk/client-iam";
import { DeleteObjectCommand, ListObjectVersionsCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { ServiceQuotasClient } from "@aws-sdk/client-service-quotas";
import { expect, it, onTestFinished, vi } from "vitest";
import { startS3 } from "../../local/s3/server.ts";
import { openCredentials } from "../../local/sts/store.ts";
import { armBuildsAtOnce } from "../../scripts/aws/build-quota.ts";
import { emptyBucket } from "../../scripts/aws/empty-bucket.ts";
import { deleteRepositories, projectRepositories } from "../../scripts/aws/repositories.ts";
import { createServiceLinkedRoles } from "../../scripts/aws/service-linked-roles.ts";

it("a bucket is emptied of every version and every delete marker", async () => {
  const dir = mkdtempSync(join(tmpdir(), "slipway-teardown-"));
  const credentials = openCredentials({ dir, now: () => new Date() });
  const buckets = [{ name: "files", versioned: true }];
  const server = await startS3({ dir, region: "us-east-1", credentials, buckets, onObjectCreated: async () => {} });
  const options = { endpoint: server.endpoint, region: "us-east-1", forcePathStyle: true };
  const s3 = new S3Client({ ...options, credentials: { ...credentials.root } });
  try {
    const Bucket = "files";
    for (const Key of ["a", "a", "b/c", "b/d", "ü"]) await s3.send(new PutObjectCommand({ Bucket, Key, Body: "x" }));
    await s3.send(new DeleteObjectCommand({ Bucket, Key: "a" }));
    expect(await emptyBucket(s3, Bucket)).toBe(6);
    const left = await s3.send(new ListObjectVersionsCommand({ Bucket }));
    expect([left.Versions ?? [], left.DeleteMarkers ?? []]).toEqual([[], []]);
    expect(await emptyBucket(s3, Bucket)).toBe(0);
  } finally {
    s3.destroy();
    await server.close();
    rmSync(dir, { recursive: true });
  }
});

/** A registry that lists two repositories per page. */
async function startRegistry(names: string[]) {
  const server = createServer(async (request, response) => {
    const operation = String(request.headers["x-amz-target"]).split(".")[1] ?? "";
    const { nextToken = "0", repositoryName, force } = JSON.parse(await text(request));
    const answer = (status: number, body: object) => response.writeHead(status).end(JSON.stringify(body));
    if (operation === "DescribeRepositories") {
      const from = Number(nextToken);
      const repositories = names.slice(from, from + 2).map((name) => ({ repositoryName: name }));
      return answer(200, { repositories, ...(from + 2 < names.length && { nextToken: String(from + 2) }) });
    }
    const at = names.indexOf(repositoryName);
    if (repositoryName.endsWith("denied")) return answer(400, { __type: "AccessDeniedException" });
    if (at < 0) return answer(400, { __type: "com.amazonaws.ecr#RepositoryNotFoundException" });
    if (force !== true) return answer(400, { __type: "RepositoryNotEmptyException" });
    names.splice(at, 1);
    return answer(200, {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  vi.stubEnv("AWS_ENDPOINT_URL_ECR", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    server.close();
  });
}

const account = { region: "us-east-1", credentials: { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret" } };
const registry = () => new ECRClient({ ...account, maxAttempts: 1 });
const project = (letter: string) => `prj_${letter.repeat(26)}`;

it("a teardown deletes only the image repositories of the stack's projects", async () => {
  const others = [
    "web",
    "slipway",
    `another/${project("a")}`,
    `slipway-two/${project("a")}`,
    "slipway/tools",
    `team/slipway/${project("a")}`,
  ];
  const own = [`slipway/${project("a")}`, `slipway/${project("b")}`];
  const names = [...others.slice(0, 2), own[0] ?? "", ...others.slice(2), own[1] ?? ""];
  await startRegistry(names);
  const found = await projectRepositories("slipway", registry());
  expect(found).toEqual(own);
  await deleteRepositories(found, registry());
  expect(names).toEqual(others);
});

it("a teardown skips repositories that no longer exist, and fails with a message if ECR denies a deletion", async () => {
  await startRegistry([]);
  await deleteRepositories([`slipway/${project("a")}`], registry());
  await expect(deleteRepositories(["slipway/denied"], registry())).rejects.toThrow(
    "ECR refused to delete the repository slipway/denied (AccessDeniedException). Fix the cause, then run this again.",
  );
});

it("the smoke test finds the quota of ARM builds on any page of Service Quotas", async () => {
  const pages = [
    { Quotas: [{ QuotaName: "Concurrently running builds for Linux/Small environment", Value: 60 }], NextToken: "2" },
    { Quotas: [{ QuotaName: "Concurrently running builds for ARM Lambda/1GB environment", Value: 7 }], NextToken: "3" },
    { Quotas: [{ QuotaName: "Concurrently running builds for ARM/Small environment", Value: 5 }] },
  ];
  const server = createServer(async (request, response) => {
    const { ServiceCode, NextToken = "1" } = JSON.parse(await text(request));
    expect([ServiceCode, request.headers["x-amz-target"]]).toEqual([
      "codebuild",
      "ServiceQuotasV20190624.ListServiceQuotas",
    ]);
    response.end(JSON.stringify(pages[Number(NextToken) - 1]));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = new ServiceQuotasClient({ ...account, endpoint, maxAttempts: 1 });
  expect(await armBuildsAtOnce(client)).toBe(5);
  pages.length = 1;
  pages[0] = { Quotas: [] };
  expect(await armBuildsAtOnce(client)).toBeUndefined();
});

it("the roles that ECS, load balancers and RDS need exist before the first deployment, whatever an account has already", async () => {
  const asked: string[] = [];
  const error = (code: string, message: string) =>
    `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`;
  const answers: Record<string, [number, string]> = {
    "ecs.amazonaws.com": [200, "<CreateServiceLinkedRoleResponse></CreateServiceLinkedRoleResponse>"],
    "elasticloadbalancing.amazonaws.com": [
      400,
      error("InvalidInput", "Service role name AWSServiceRoleForElasticLoadBalancing has been taken in this account."),
    ],
    "rds.amazonaws.com": [403, error("AccessDenied", "User is not authorized")],
  };
  const server = createServer(async (request, response) => {
    const form = new URLSearchParams(await text(request));
    expect(form.get("Action")).toBe("CreateServiceLinkedRole");
    const service = form.get("AWSServiceName") ?? "";
    asked.push(service);
    const [status, body] = answers[service] ?? [500, ""];
    response.writeHead(status, { "content-type": "text/xml" }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const said: string[] = [];
  await createServiceLinkedRoles(
    new IAMClient({ ...account, endpoint, maxAttempts: 1 }),
    (line) => void said.push(line),
    0,
  );
  expect(asked).toEqual(Object.keys(answers));
  expect(said).toEqual([
    "The role of rds.amazonaws.com could not be created (AccessDenied). If the deployment fails, run: aws iam create-service-linked-role --aws-service-name rds.amazonaws.com",
  ]);
});
