import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  BatchDeleteImageCommand,
  CreateRepositoryCommand,
  DescribeImagesCommand,
  ECRClient,
} from "@aws-sdk/client-ecr";
import { afterEach, beforeEach, expect, test } from "vitest";
import { registryPassword } from "../../../lambdas/aws/registry-password.ts";
import type { AwsServer } from "../../../local/aws/http-server.ts";
import { startAwsServer } from "../../../local/aws/server.ts";
import { ImageMissing } from "../../../local/codebuild/image.ts";
import { DockerFailed } from "../../../local/containers/docker.ts";
import { EngineGone } from "../../../local/containers/engine-api.ts";
import { createEcr, type Ecr } from "../../../local/ecr/server.ts";
import { openCredentials } from "../../../local/sts/store.ts";

const digestOf = (bytes: string) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
const image = (...layers: string[]) =>
  JSON.stringify({ config: { digest: digestOf("{}") }, layers: layers.map((layer) => ({ digest: digestOf(layer) })) });
const repository = "slipway-apps/prj_1";

let dir: string;
let ecr: Ecr;
let aws: AwsServer;
let client: ECRClient;
let password: string;

async function start(): Promise<void> {
  const credentials = openCredentials({ dir });
  ecr = await createEcr({ dir: join(dir, "ecr"), port: 0 });
  aws = await startAwsServer({ json: [ecr.service], credentials });
  process.env.AWS_ENDPOINT_URL_ECR = aws.endpoint;
  process.env.AWS_REGION = "us-east-1";
  client = new ECRClient({ endpoint: aws.endpoint, region: "us-east-1", credentials: credentials.root });
  password = await registryPassword({ ...credentials.root, sessionToken: "" });
}

async function stop(): Promise<void> {
  client.destroy();
  await Promise.all([ecr.close(), aws.close()]);
}

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "slipway-ecr-"));
  await start();
});
afterEach(async () => {
  await stop();
  rmSync(dir, { recursive: true });
});

const send = (method: string, path: string, body?: string, given = password) =>
  fetch(`http://${ecr.host}/v2/${path}`, {
    method,
    ...(body !== undefined && { body, headers: { "content-type": "application/vnd.oci.image.manifest.v1+json" } }),
    ...(given !== "" && { headers: { authorization: `Basic ${Buffer.from(`AWS:${given}`).toString("base64")}` } }),
  });

async function pushBlob(content: string, digest = digestOf(content)): Promise<number> {
  const begun = await send("POST", `${repository}/blobs/uploads/`);
  const location = begun.headers.get("location")?.replace("/v2/", "") ?? "";
  await send("PATCH", location, content);
  return (await send("PUT", `${location}?digest=${digest}`)).status;
}
const create = () => client.send(new CreateRepositoryCommand({ repositoryName: repository }));
const pushed = async () => {
  const { imageDetails = [] } = await client.send(
    new DescribeImagesCommand({ repositoryName: repository, filter: { tagStatus: "TAGGED" } }),
  );
  return imageDetails.map(({ imageTags, imageDigest }) => [imageTags, imageDigest]);
};

test("an image that was pushed is pulled by its tag and by its digest, byte for byte", async () => {
  await create();
  expect([await pushBlob("{}"), await pushBlob("layer")]).toEqual([201, 201]);
  expect((await send("PUT", `${repository}/manifests/bld_1`, image("layer"))).status).toBe(201);
  for (const reference of ["bld_1", digestOf(image("layer"))])
    expect(await (await send("GET", `${repository}/manifests/${reference}`)).text()).toBe(image("layer"));
  expect(await (await send("GET", `${repository}/blobs/${digestOf("layer")}`)).text()).toBe("layer");
  expect((await send("HEAD", `${repository}/blobs/${digestOf("layer")}`)).headers.get("content-length")).toBe("5");
  expect(await pushed()).toEqual([[["bld_1"], digestOf(image("layer"))]]);
});

test("an image is missing if neither the engine nor the registry has it; an engine that is away does not make it missing", async () => {
  await create();
  await Promise.all(["{}", "layer"].map((content) => pushBlob(content)));
  await send("PUT", `${repository}/manifests/bld_1`, image("layer"));
  const socket = join(dir, "engine.sock");
  const engine = createServer((_, response) => response.writeHead(404).end('{"message":"No such image"}'));
  await new Promise<void>((resolve) => engine.listen(socket, resolve));
  // This `docker` cannot pull.
  const env = { PATH: dir };
  const pull = (digest: string) =>
    ecr.pull(`local/${repository}@${digest}`, { host: `unix://${socket}`, env }).catch((error: unknown) => error);
  expect(await pull(digestOf("never pushed"))).toBeInstanceOf(ImageMissing);
  expect(await pull(digestOf(image("layer")))).toBeInstanceOf(DockerFailed);
  rmSync(join(dir, "ecr", "blobs", digestOf("layer").slice(7)));
  expect(await pull(digestOf(image("layer")))).toBeInstanceOf(ImageMissing);
  await new Promise((resolve) => engine.close(resolve));
  expect(await pull(digestOf("never pushed"))).toBeInstanceOf(EngineGone);
});

test("a layer with another digest, a manifest without its layers, and a repository that was not created are refused", async () => {
  expect((await send("POST", `${repository}/blobs/uploads/`)).status).toBe(404);
  await create();
  expect(await pushBlob("layer", digestOf("other"))).toBe(400);
  expect((await send("HEAD", `${repository}/blobs/${digestOf("other")}`)).status).toBe(404);
  expect((await send("PUT", `${repository}/manifests/bld_1`, image("layer"))).status).toBe(400);
  expect(await pushed()).toEqual([]);
  await expect(create()).rejects.toThrow(expect.objectContaining({ name: "RepositoryAlreadyExistsException" }));
});

test.each([["", "wrong"]].flat())("without the password nothing can be read or pushed (%j)", async (given) => {
  await create();
  await pushBlob("{}");
  const blob = await send("GET", `${repository}/blobs/${digestOf("{}")}`, undefined, given);
  const upload = await send("POST", `${repository}/blobs/uploads/`, undefined, given);
  expect([blob.status, upload.status, blob.headers.get("www-authenticate")]).toEqual([
    401,
    401,
    'Basic realm="slipway"',
  ]);
});

test("after a restart tagged images are there, and replaced caches and deleted images free the disk", async () => {
  await create();
  for (const content of ["{}", "one", "two", "old cache", "new cache"]) await pushBlob(content);
  for (const [tag, layer] of [
    ["bld_1", "one"],
    ["bld_2", "two"],
    ["cache", "old cache"],
    ["cache", "new cache"],
  ])
    await send("PUT", `${repository}/manifests/${tag}`, image(layer ?? ""));
  await client.send(new BatchDeleteImageCommand({ repositoryName: repository, imageIds: [{ imageTag: "bld_1" }] }));
  await stop();
  await start();
  expect((await pushed()).map(([tags]) => tags)).toEqual([["bld_2"], ["cache"]]);
  const kept = [image("two"), image("new cache"), "{}", "two", "new cache"].map((text) => digestOf(text).slice(7));
  expect(readdirSync(join(dir, "ecr", "blobs")).sort()).toEqual(kept.sort());
  expect(existsSync(join(dir, "ecr", "uploads"))).toBe(true);
});

const canMount = process.platform === "linux" && process.getuid?.() === 0;

test.skipIf(!canMount)(
  "a layer for which the disk has no space is refused, and leaves the space to others",
  async () => {
    const uploads = join(dir, "ecr", "uploads");
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", uploads]);
    try {
      await create();
      const begun = await send("POST", `${repository}/blobs/uploads/`);
      const location = begun.headers.get("location")?.replace("/v2/", "") ?? "";
      const answer = await send("PATCH", location, "x".repeat(2 ** 20));
      expect([answer.status, answer.statusText]).toEqual([507, "Insufficient Storage"]);
      expect(readdirSync(uploads)).toEqual([]);
    } finally {
      execFileSync("umount", [uploads]);
    }
  },
);
