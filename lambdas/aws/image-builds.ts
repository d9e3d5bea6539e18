import { BatchGetBuildsCommand, CodeBuildClient } from "@aws-sdk/client-codebuild";
import * as z from "zod";
import {
  type ImageBuildInputs,
  inputsOf,
  repositoryLifecycle,
  repositorySettings,
  type StoredObject,
  sessionPolicyOf,
} from "./build-access.ts";
import { clientDefaults, isNamed, lean } from "./clients.ts";
import { presigner } from "./presigner.ts";
import { callRegistry } from "./registry.ts";
import type { Credentials } from "./signature.ts";
import { assumeRole } from "./signer.ts";

/** A build asks for its files in its first seconds; S3 looks at the clock when a download begins, not when it ends. */
const addressValidSeconds = 300;

const login = z.object({ authorizationData: z.array(z.object({ authorizationToken: z.string() })).length(1) });

interface BuildAccess {
  archive: string;
  recipe: string;
  registryPassword: string;
}

export interface BuildAccessGranter {
  /** What this image build works on, as CodeBuild knows it; `undefined` when it is none of ours that runs. */
  running(imageBuildId: string): Promise<ImageBuildInputs | undefined>;
  /** Makes the project's repository, or finds it made. */
  makeRepository(projectId: string): Promise<void>;
  /** Addresses of exactly these inputs, and a registry password that reaches exactly this project's repository. */
  grant(inputs: ImageBuildInputs, now: Date): Promise<BuildAccess>;
}

async function registryPassword(credentials: Credentials): Promise<string> {
  const { authorizationData } = login.parse(await callRegistry("GetAuthorizationToken", {}, credentials));
  const text = Buffer.from(authorizationData[0]?.authorizationToken ?? "", "base64").toString("utf8");
  if (!text.startsWith("AWS:")) throw new Error("ECR gave no password for the user AWS");
  return text.slice("AWS:".length);
}

export function buildAccessGranter(environment: {
  IMAGE_BUILD_PROJECT: string;
  IMAGE_BUILD_ROLE: string;
  IMAGE_KEY: string;
  IMAGE_REPOSITORIES: string;
}): BuildAccessGranter {
  const codeBuild = lean(new CodeBuildClient(clientDefaults));
  const repositoryArn = (projectId: string) => `${environment.IMAGE_REPOSITORIES}/${projectId}`;

  return {
    async running(imageBuildId) {
      const { builds = [] } = await codeBuild.send(new BatchGetBuildsCommand({ ids: [imageBuildId] }));
      return builds[0]?.id === imageBuildId ? inputsOf(builds[0], environment.IMAGE_BUILD_PROJECT) : undefined;
    },
    async makeRepository(projectId) {
      const repositoryName = repositoryArn(projectId).replace(/^.*:repository\//, "");
      try {
        await callRegistry("CreateRepository", repositorySettings(repositoryName, environment.IMAGE_KEY));
      } catch (error) {
        if (!isNamed(error, "RepositoryAlreadyExistsException")) throw error;
      }
      // Also for one that was there: whoever made it may have died before this call.
      const lifecyclePolicyText = JSON.stringify(repositoryLifecycle);
      await callRegistry("PutLifecyclePolicy", { repositoryName, lifecyclePolicyText });
    },
    async grant(inputs, now) {
      const policy = sessionPolicyOf(inputs, repositoryArn(inputs.projectId));
      const credentials = await assumeRole(environment.IMAGE_BUILD_ROLE, policy);
      const address = ({ bucket, key, version }: StoredObject) =>
        presigner({ bucket, validSeconds: addressValidSeconds, credentials, now })({
          method: "GET",
          key,
          ...(version && { query: { versionId: version } }),
        });
      return {
        archive: address(inputs.archive),
        recipe: address(inputs.recipe),
        registryPassword: await registryPassword(credentials),
      };
    },
  };
}
