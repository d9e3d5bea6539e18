import type { CreateRepositoryCommandInput } from "@aws-sdk/client-ecr";
import * as z from "zod";
import { isId } from "../../api/ids.ts";
import { cacheTag } from "../../buildpack/image/buildspec.ts";
import { imageBuildActions } from "../../statemachines/image-build-actions.ts";

const reported = z.object({
  projectName: z.string(),
  buildStatus: z.string(),
  environment: z.object({
    environmentVariables: z.array(z.object({ name: z.string(), value: z.string(), type: z.string().optional() })),
  }),
});

const told = z.object({
  SOURCE_BUCKET: z.string().min(1),
  SOURCE_KEY: z.string(),
  SOURCE_VERSION: z.string().min(1),
  ARTIFACT_BUCKET: z.string().min(1),
  ARTIFACT_PREFIX: z.string(),
  IMAGE_TAG: z.string().refine((text) => isId("bld", text)),
  PROJECT_ID: z.string().refine((text) => isId("prj", text)),
});

/** An object of S3; without a version, the newest. */
export interface StoredObject {
  bucket: string;
  key: string;
  version?: string;
}

/** The inputs of one image build. */
export interface ImageBuildInputs {
  projectId: string;
  buildId: string;
  archive: StoredObject;
  recipe: StoredObject;
}

/**
 * The inputs that a CodeBuild build may access. `undefined` if it is not running, belongs to another CodeBuild project, or was
 * started with other values than one build's own file names. Only CodeBuild's record is trusted, not the build's own claims.
 */
export function inputsOf(build: unknown, imageBuildProject: string): ImageBuildInputs | undefined {
  const known = reported.safeParse(build);
  if (!known.success) return undefined;
  const { projectName, buildStatus, environment } = known.data;
  if (projectName !== imageBuildProject || buildStatus !== "IN_PROGRESS") return undefined;
  const names = told.safeParse(
    Object.fromEntries(environment.environmentVariables.map(({ name, value }) => [name, value])),
  );
  if (!names.success) return undefined;
  const { SOURCE_KEY, ARTIFACT_PREFIX, IMAGE_TAG, PROJECT_ID, ...one } = names.data;
  const [folder, organizationId = "", projectId, file, ...more] = SOURCE_KEY.split("/");
  const isOwnArchive = folder === "archives" && projectId === PROJECT_ID && file === `${IMAGE_TAG}.zip`;
  if (!isOwnArchive || !isId("org", organizationId) || more.length > 0) return undefined;
  if (ARTIFACT_PREFIX !== `builds/${IMAGE_TAG}/`) return undefined;
  return {
    projectId: PROJECT_ID,
    buildId: IMAGE_TAG,
    archive: { bucket: one.SOURCE_BUCKET, key: SOURCE_KEY, version: one.SOURCE_VERSION },
    recipe: { bucket: one.ARTIFACT_BUCKET, key: `${ARTIFACT_PREFIX}recipe.json` },
  };
}

/** The session policy for signing a build's URLs and creating its registry password. IAM accepts at most 2,048 characters. */
export function sessionPolicyOf(inputs: ImageBuildInputs, repositoryArn: string, baseImagesArn: string) {
  const partition = repositoryArn.split(":")[1];
  const objects = [inputs.archive, inputs.recipe];
  return {
    Version: "2012-10-17",
    Statement: [
      { Effect: "Allow", Action: "ecr:GetAuthorizationToken", Resource: "*" },
      { Effect: "Allow", Action: [...imageBuildActions.repository], Resource: repositoryArn },
      { Effect: "Allow", Action: [...imageBuildActions.baseImages], Resource: `${baseImagesArn}/*` },
      {
        Effect: "Allow",
        Action: [...imageBuildActions.objects],
        Resource: objects.map(({ bucket, key }) => `arn:${partition}:s3:::${bucket}/${key}`),
      },
      // The role's own policy limits the KMS key and the service that may use it.
      { Effect: "Allow", Action: "kms:Decrypt", Resource: "*" },
    ],
  };
}

/** The settings of a project's repository. */
export function repositorySettings(repositoryName: string, kmsKey: string): CreateRepositoryCommandInput {
  return {
    repositoryName,
    imageTagMutability: "IMMUTABLE_WITH_EXCLUSION",
    imageTagMutabilityExclusionFilters: [{ filterType: "WILDCARD", filter: cacheTag }],
    imageScanningConfiguration: { scanOnPush: true },
    encryptionConfiguration: { encryptionType: "KMS", kmsKey },
  };
}

/**
 * Only untagged images expire: replaced cache layers. Every image keeps its build's id as its tag, because ECS pulls the
 * image of a running app, or of a rollback, again whenever a task is replaced, even years later (docs/decisions/0014).
 */
export const repositoryLifecycle = {
  rules: [
    {
      rulePriority: 1,
      description: "replaced cache layers",
      selection: { tagStatus: "untagged", countType: "sinceImagePushed", countUnit: "days", countNumber: 7 },
      action: { type: "expire" },
    },
  ],
};
