import { BatchGetBuildsCommand, CodeBuildClient } from "@aws-sdk/client-codebuild";
import { CreateRepositoryCommand, ECRClient, PutLifecyclePolicyCommand } from "@aws-sdk/client-ecr";
import { roleAssumer } from "./assume-role.ts";
import {
  type ImageBuildInputs,
  inputsOf,
  repositoryLifecycle,
  repositorySettings,
  type StoredObject,
  sessionPolicyOf,
} from "./build-access.ts";
import { clientDefaults, isNamed } from "./clients.ts";
import { presigner } from "./presigner.ts";
import { registryPassword } from "./registry-password.ts";

/** A build requests its files in its first seconds. S3 checks the expiry when a download starts, not when it ends. */
const addressValidSeconds = 300;

interface BuildAccess {
  archive: string;
  recipe: string;
  registryPassword: string;
}

export interface BuildAccessGranter {
  /** The inputs of this image build, from CodeBuild's record; `undefined` if it is not a running build of this service. */
  running(imageBuildId: string): Promise<ImageBuildInputs | undefined>;
  /** Creates the project's repository if it does not exist. */
  makeRepository(projectId: string): Promise<void>;
  /** Addresses of exactly these inputs, and a registry password that reaches exactly this project's repository. */
  grant(inputs: ImageBuildInputs, now: Date): Promise<BuildAccess>;
}

export function buildAccessGranter(environment: {
  IMAGE_BUILD_PROJECT: string;
  IMAGE_BUILD_ROLE: string;
  IMAGE_KEY: string;
  IMAGE_REPOSITORIES: string;
  BASE_IMAGES: string;
}): BuildAccessGranter {
  const codeBuild = new CodeBuildClient(clientDefaults());
  const ecr = new ECRClient(clientDefaults());
  const assumeRole = roleAssumer();
  const repositoryArn = (projectId: string) => `${environment.IMAGE_REPOSITORIES}/${projectId}`;

  return {
    async running(imageBuildId) {
      const { builds = [] } = await codeBuild.send(new BatchGetBuildsCommand({ ids: [imageBuildId] }));
      return builds[0]?.id === imageBuildId ? inputsOf(builds[0], environment.IMAGE_BUILD_PROJECT) : undefined;
    },
    async makeRepository(projectId) {
      const repositoryName = repositoryArn(projectId).replace(/^.*:repository\//, "");
      try {
        await ecr.send(new CreateRepositoryCommand(repositorySettings(repositoryName, environment.IMAGE_KEY)));
      } catch (error) {
        if (!isNamed(error, "RepositoryAlreadyExistsException")) throw error;
      }
      // Also for an existing repository: the build that created it may have died before this call.
      const lifecyclePolicyText = JSON.stringify(repositoryLifecycle);
      await ecr.send(new PutLifecyclePolicyCommand({ repositoryName, lifecyclePolicyText }));
    },
    async grant(inputs, now) {
      const policy = sessionPolicyOf(inputs, repositoryArn(inputs.projectId), environment.BASE_IMAGES);
      const credentials = await assumeRole(environment.IMAGE_BUILD_ROLE, policy);
      const address = ({ bucket, key, version }: StoredObject) =>
        presigner({ bucket, validSeconds: addressValidSeconds, credentials, now })({
          method: "GET",
          key,
          ...(version && { query: { versionId: version } }),
        });
      const [archive, recipe, password] = await Promise.all([
        address(inputs.archive),
        address(inputs.recipe),
        registryPassword(credentials),
      ]);
      return { archive, recipe, registryPassword: password };
    },
  };
}
