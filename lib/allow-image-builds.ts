import { Aws } from "aws-cdk-lib";
import type { Allowance } from "./allow.ts";
import type { Resources } from "./resources.ts";

/** ECR uses the key through grants, with the permissions of the caller that creates or deletes the repository. */
const keyGrants = (r: Resources, actions: readonly string[]): Allowance => ({
  actions,
  resources: [r.data.key.keyArn],
  conditions: { StringEquals: { "kms:ViaService": `ecr.${Aws.REGION}.amazonaws.com` } },
});

/** Looks up the image build that calls, creates its project's repository, and opens a session for this build only. */
export const imageBuildsGrant: (r: Resources) => Allowance[] = (r) => [
  { actions: ["codebuild:BatchGetBuilds"], resources: [r.imageBuild.project.projectArn] },
  {
    actions: ["ecr:CreateRepository", "ecr:PutLifecyclePolicy"],
    resources: [`${r.apps.images.arn}/*`],
    because: "Repositories are named after projects, below the stack's own prefix.",
  },
  keyGrants(r, ["kms:CreateGrant", "kms:DescribeKey", "kms:RetireGrant"]),
  { actions: ["sts:AssumeRole"], resources: [r.imageBuild.sessions.roleArn] },
];

/** Deletes a project's repository with its images. */
export const imagesRemove: (r: Resources) => Allowance[] = (r) => [
  {
    actions: ["ecr:DeleteRepository"],
    resources: [`${r.apps.images.arn}/*`],
    because: "Repositories are named after projects, below the stack's own prefix.",
  },
  keyGrants(r, ["kms:DescribeKey", "kms:RetireGrant"]),
];

/** Lists and deletes images of projects. */
export const imagesExpire: (r: Resources) => Allowance[] = (r) => [
  {
    actions: ["ecr:BatchDeleteImage", "ecr:DescribeImages"],
    resources: [`${r.apps.images.arn}/*`],
    because: "Repositories are named after projects, below the stack's own prefix.",
  },
];
