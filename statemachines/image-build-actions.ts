/** The IAM actions of an image build's sessions: the role has them for every build, each session's own policy for one build (ADR 0002). */
export const imageBuildActions = {
  /** Reading the archive and the recipe. */
  objects: ["s3:GetObject", "s3:GetObjectVersion"],
  /** Pulling base images through the stack's copies of them; the import makes the copy at the first pull. */
  baseImages: [
    "ecr:BatchCheckLayerAvailability",
    "ecr:BatchGetImage",
    "ecr:BatchImportUpstreamImage",
    "ecr:GetDownloadUrlForLayer",
  ],
  /** Pulling the cache and pushing an image, as `docker` does; creating and deleting repositories is not included. */
  repository: [
    "ecr:BatchCheckLayerAvailability",
    "ecr:BatchGetImage",
    "ecr:CompleteLayerUpload",
    "ecr:GetDownloadUrlForLayer",
    "ecr:InitiateLayerUpload",
    "ecr:PutImage",
    "ecr:UploadLayerPart",
  ],
} as const;
