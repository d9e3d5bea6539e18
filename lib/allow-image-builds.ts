import { Aws } from "aws-cdk-lib";
import type { Allowance } from "./allow.ts";
import type { Resources } from "./resources.ts";

/** Asking CodeBuild who asks, making a project's repository, and opening a session for one build. */
export const imageBuildsGrant: (r: Resources) => Allowance[] = (r) => [
  { actions: ["codebuild:BatchGetBuilds"], resources: [r.imageBuild.project.projectArn] },
  {
    actions: ["ecr:CreateRepository", "ecr:PutLifecyclePolicy"],
    resources: [`${r.apps.images.arn}/*`],
    because: "Repositories are named after projects, below the stack's own prefix.",
  },
  {
    // ECR keeps its right to the key as grants, which it makes in the name of whoever makes the repository.
    actions: ["kms:CreateGrant", "kms:DescribeKey", "kms:RetireGrant"],
    resources: [r.data.key.keyArn],
    conditions: { StringEquals: { "kms:ViaService": `ecr.${Aws.REGION}.amazonaws.com` } },
  },
  { actions: ["sts:AssumeRole"], resources: [r.imageBuild.sessions.roleArn] },
];
