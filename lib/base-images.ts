import { Aws, Stack } from "aws-cdk-lib";
import * as ecr from "aws-cdk-lib/aws-ecr";
import { Construct } from "constructs";
import { baseImagePrefix } from "./image-repositories.ts";

/** The images that builds pull: the base images of apps, and BuildKit (`buildpack/image`). */
const pulled = ["docker/library/node", "docker/library/python", "vend/moby/buildkit"];

/** ECR looks for a newer image of a tag once a day; images without a tag are deleted after this many days. */
const untaggedDays = 30;

/**
 * Copies of the public images that builds use, which ECR makes at the first pull (docs/decisions/0015). The repositories exist
 * before, so that no build needs the permission to create one.
 */
export class BaseImages extends Construct {
  /** The ARN of the repositories, up to the slash. */
  readonly arn: string;
  /** The registry that replaces public.ecr.aws. */
  readonly registry: string;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    const stack = Stack.of(this);
    const prefix = baseImagePrefix(stack.stackName);
    this.arn = stack.formatArn({ service: "ecr", resource: "repository", resourceName: prefix });
    this.registry = `${Aws.ACCOUNT_ID}.dkr.ecr.${Aws.REGION}.${Aws.URL_SUFFIX}/${prefix}`;
    const rule = new ecr.CfnPullThroughCacheRule(this, "Rule", {
      ecrRepositoryPrefix: prefix,
      upstreamRegistryUrl: "public.ecr.aws",
    });
    const lifecyclePolicyText = JSON.stringify({
      rules: [
        {
          rulePriority: 1,
          description: "replaced base images",
          selection: {
            tagStatus: "untagged",
            countType: "sinceImagePushed",
            countUnit: "days",
            countNumber: untaggedDays,
          },
          action: { type: "expire" },
        },
      ],
    });
    for (const name of pulled) {
      new ecr.CfnRepository(this, name.replaceAll("/", "-"), {
        repositoryName: `${prefix}/${name}`,
        emptyOnDelete: true,
        lifecyclePolicy: { lifecyclePolicyText },
      }).addResourceDependency(rule);
    }
  }
}
