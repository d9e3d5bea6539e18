import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import * as z from "zod";
import type { DockerEngine } from "../../local/containers/engine.ts";
import { createEcr, type Ecr } from "../../local/ecr/server.ts";
import { testEngine } from "../harness/engine.ts";

const found = await testEngine();
/** True on a machine without a Docker engine or base images; test/images/setup.ts says why. */
export const noEngine = found.kind === "none";

/** The engine; only for tests that are not skipped. */
export function engineOfTests(): DockerEngine {
  if (found.kind === "none") throw new Error(found.reason);
  return found;
}

/** The prefix of the repositories of these tests. */
export const repositories = "slipway-test";
export const projectId = "prj_images";

const dir = mkdtempSync(join(tmpdir(), "slipway-images-"));
let started: Promise<{ ecr: Ecr; password: string }> | undefined;

const tokens = z.object({ authorizationData: z.array(z.object({ authorizationToken: z.string() })) });

async function startRegistry(): Promise<{ ecr: Ecr; password: string }> {
  const ecr = await createEcr({ dir, port: 0 });
  const { GetAuthorizationToken, CreateRepository } = ecr.service.operations;
  await CreateRepository?.({ repositoryName: `${repositories}/${projectId}` });
  const { authorizationData } = tokens.parse(await GetAuthorizationToken?.({}));
  const token = Buffer.from(authorizationData[0]?.authorizationToken ?? "", "base64").toString("utf8");
  return { ecr, password: token.slice("AWS:".length) };
}

/** The embedded ECR of this test file, and its password. */
export function registryOfTests(): Promise<{ ecr: Ecr; password: string }> {
  started ??= startRegistry();
  return started;
}

afterAll(async () => {
  await (await started)?.ecr.close();
  rmSync(dir, { recursive: true, force: true });
});
