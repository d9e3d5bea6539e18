import { expect, test } from "vitest";
import { cacheTag } from "../../../../buildpack/image/buildspec.ts";
import {
  inputsOf,
  repositoryLifecycle,
  repositorySettings,
  sessionPolicyOf,
} from "../../../../lambdas/aws/build-access.ts";
import { newId } from "../../../../lambdas/table/ids.ts";
import { imageBuildActions } from "../../../../statemachines/image-build-actions.ts";

const now = new Date("2026-11-21T07:00:00Z");
const [organizationId, projectId, buildId] = [newId("org", now), newId("prj", now), newId("bld", now)];
const other = newId("prj", now);

const told = {
  SOURCE_BUCKET: "archives-bucket",
  SOURCE_KEY: `archives/${organizationId}/${projectId}/${buildId}.zip`,
  SOURCE_VERSION: "v1",
  ARTIFACT_BUCKET: "artifacts-bucket",
  ARTIFACT_PREFIX: `builds/${buildId}/`,
  IMAGE_REPOSITORY: "1.dkr.ecr/apps",
  IMAGE_TAG: buildId,
  PROJECT_ID: projectId,
};
const build = (changes: Record<string, string | undefined> = {}, rest: object = {}) => ({
  projectName: "slipway-build",
  buildStatus: "IN_PROGRESS",
  environment: {
    environmentVariables: Object.entries({ ACCESS_FUNCTION: "f", ...told, ...changes }).flatMap(([name, value]) =>
      value === undefined ? [] : [{ name, value, type: "PLAINTEXT" }],
    ),
  },
  ...rest,
});

test("a build that runs gets the pinned archive, and its own recipe", () => {
  expect(inputsOf(build(), "slipway-build")).toEqual({
    projectId,
    buildId,
    archive: { bucket: "archives-bucket", key: told.SOURCE_KEY, version: "v1" },
    recipe: { bucket: "artifacts-bucket", key: `builds/${buildId}/recipe.json` },
  });
});

test.each<[string, unknown]>([
  ["is not known", undefined],
  ["is over", build({}, { buildStatus: "SUCCEEDED" })],
  ["belongs to another CodeBuild project", build({}, { projectName: "another" })],
  ["names another project's archive", build({ PROJECT_ID: other })],
  ["names another build's artifacts", build({ ARTIFACT_PREFIX: `builds/${newId("bld", now)}/` })],
  ["names another build's archive", build({ IMAGE_TAG: newId("bld", now) })],
  ["names a pattern", build({ SOURCE_KEY: "archives/*" })],
  ["names more than an archive", build({ SOURCE_KEY: `${told.SOURCE_KEY}/..` })],
  ["names no organization", build({ SOURCE_KEY: `archives/*/${projectId}/${buildId}.zip` })],
  ["names no project", build({ PROJECT_ID: "*" })],
  ["pins no version", build({ SOURCE_VERSION: "" })],
  ["has no environment", build({}, { environment: undefined })],
  ["was started without a project", build({ PROJECT_ID: undefined })],
])("a build that %s gets nothing", (_, reported) => {
  expect(inputsOf(reported, "slipway-build")).toBeUndefined();
});

const inputs = inputsOf(build(), "slipway-build");
const baseImagesArn = "arn:aws:ecr:eu-west-1:123456789012:repository/slipway-base";
const repositoryArn = `arn:aws:ecr:eu-west-1:123456789012:repository/slipway/${projectId}`;

test("a session reaches one build's two objects and one project's repository, and makes or deletes nothing", () => {
  if (inputs === undefined) throw new Error("no inputs");
  const policy = sessionPolicyOf(inputs, repositoryArn, baseImagesArn);
  expect(policy.Statement.map(({ Action, Resource }) => [Action, Resource])).toEqual([
    ["ecr:GetAuthorizationToken", "*"],
    [[...imageBuildActions.repository], repositoryArn],
    [[...imageBuildActions.baseImages], `${baseImagesArn}/*`],
    [
      ["s3:GetObject", "s3:GetObjectVersion"],
      [
        `arn:aws:s3:::archives-bucket/${told.SOURCE_KEY}`,
        `arn:aws:s3:::artifacts-bucket/builds/${buildId}/recipe.json`,
      ],
    ],
    ["kms:Decrypt", "*"],
  ]);
  expect(
    [...imageBuildActions.repository, ...imageBuildActions.baseImages].filter((action) =>
      /Delete|Create|Set|\*/.test(action),
    ),
  ).toEqual([]);
});

test("a session policy with the longest possible names fits IAM's limit", () => {
  const bucket = "b".repeat(63);
  const longest = inputsOf(build({ SOURCE_BUCKET: bucket, ARTIFACT_BUCKET: bucket }), "slipway-build");
  if (longest === undefined) throw new Error("no inputs");
  const arn = `arn:aws-us-gov:ecr:ap-southeast-2:123456789012:repository/${"s".repeat(32)}/${projectId}`;
  expect(
    JSON.stringify(
      sessionPolicyOf(longest, arn, `arn:aws-us-gov:ecr:ap-southeast-2:123456789012:repository/${"s".repeat(30)}`),
    ).length,
  ).toBeLessThan(2_048);
});

test("a repository is encrypted with our key, scans what is pushed, and lets only the cache's tag be written again", () => {
  expect(repositorySettings("slipway/prj_1", "arn:key")).toEqual({
    repositoryName: "slipway/prj_1",
    imageTagMutability: "IMMUTABLE_WITH_EXCLUSION",
    imageTagMutabilityExclusionFilters: [{ filterType: "WILDCARD", filter: "cache" }],
    imageScanningConfiguration: { scanOnPush: true },
    encryptionConfiguration: { encryptionType: "KMS", kmsKey: "arn:key" },
  });
});

test("no rule of a repository ever removes an image that a build is known by", () => {
  expect(repositoryLifecycle.rules.map(({ selection }) => selection.tagStatus)).toEqual(["untagged"]);
  expect(cacheTag).not.toMatch(/^bld_/);
});
