import { Aws } from "aws-cdk-lib";
import type { Allowance } from "./allow.ts";
import type { Resources } from "./resources.ts";

/** Looks up the image build that calls, creates its project's repository, and opens a session for this build only. */
export const imageBuildsGrant: (r: Resources) => Allowance[] = (r) => [
  { actions: ["codebuild:BatchGetBuilds"], resources: [r.imageBuild.project.projectArn] },
  {
    actions: ["ecr:CreateRepository", "ecr:PutLifecyclePolicy"],
    resources: [`${r.apps.images.arn}/*`],
    because: "Repositories are named after projects, below the stack's own prefix.",
  },
  {
    // ECR uses the key through grants, which it creates with the permissions of the caller that creates the repository.
    actions: ["kms:CreateGrant", "kms:DescribeKey", "kms:RetireGrant"],
    resources: [r.data.key.keyArn],
    conditions: { StringEquals: { "kms:ViaService": `ecr.${Aws.REGION}.amazonaws.com` } },
  },
  { actions: ["sts:AssumeRole"], resources: [r.imageBuild.sessions.roleArn] },
];

/** Lists and deletes images of projects. */
export const imagesExpire: (r: Resources) => Allowance[] = (r) => [
  {
    actions: ["ecr:BatchDeleteImage", "ecr:DescribeImages"],
    resources: [`${r.apps.images.arn}/*`],
    because: "Repositories are named after projects, below the stack's own prefix.",
  },
];
