/** Where BuildKit itself comes from: the default is on a registry that limits anonymous pulls. */
const buildkit = "public.ecr.aws/vend/moby/buildkit:buildx-stable-1";

/** Fetches the pinned version of the archive and what the analysis wrote; unzip's exit code 1 is a mere warning, as for backslashes in names. */
const fetch = [
  "set -euo pipefail",
  "mkdir -p /tmp/build /tmp/source /tmp/slipway",
  "for name in recipe.json variables; do",
  '  aws s3 cp --only-show-errors "s3://$ARTIFACT_BUCKET/$ARTIFACT_PREFIX$name" "/tmp/build/$name"',
  "done",
  'aws s3api get-object --bucket "$SOURCE_BUCKET" --key "$SOURCE_KEY" --version-id "$SOURCE_VERSION" /tmp/source.zip > /dev/null',
  "unzip -q -o /tmp/source.zip -d /tmp/source || test $? -eq 1",
  "chmod -R u+rwX /tmp/source",
  "jq -j .dockerfile /tmp/build/recipe.json > /tmp/build/Dockerfile",
  "jq -j .dockerignore /tmp/build/recipe.json > /tmp/build/Dockerfile.dockerignore",
  "jq -j '.staticServer // empty' /tmp/build/recipe.json > /tmp/slipway/static-server.mjs",
  'aws ecr get-login-password | docker login --username AWS --password-stdin "${IMAGE_REPOSITORY%%/*}" > /dev/null',
  `docker buildx create --use --name slipway --driver-opt image=${buildkit} > /dev/null`,
];

/** Values go from the NUL-separated file into arguments of one process and nowhere else. */
const build = [
  "set -euo pipefail",
  "root=$(jq -r .plan.root /tmp/build/recipe.json)",
  "arguments=()",
  'while IFS= read -r -d "" entry; do arguments+=(--build-arg "_E$((${#arguments[@]} / 2))=${entry#*=}"); done < /tmp/build/variables',
  [
    "docker buildx build --file /tmp/build/Dockerfile --build-context slipway=/tmp/slipway",
    "--platform linux/arm64 --provenance=false --sbom=false --progress plain",
    '--cache-from "type=registry,ref=$IMAGE_REPOSITORY:cache-$PROJECT_ID"',
    '--cache-to "type=registry,ref=$IMAGE_REPOSITORY:cache-$PROJECT_ID,mode=max,image-manifest=true,oci-mediatypes=true,ignore-error=true"',
    '--metadata-file /tmp/metadata.json --tag "$IMAGE_REPOSITORY:$IMAGE_TAG" --push',
    // An empty array under `set -u` is an error in bash before 4.4.
    '${arguments[@]+"${arguments[@]}"} "/tmp/source/$root"',
  ].join(" \\\n  "),
];

/** A script in a shell of its own, so that its strictness does not reach CodeBuild's. */
const strict = (lines: readonly string[]): string => ["(", ...lines, ")"].join("\n");

/**
 * What CodeBuild runs (its buildspec, as an object). Its environment names what to build: SOURCE_BUCKET, SOURCE_KEY,
 * SOURCE_VERSION (the pinned archive), ARTIFACT_BUCKET, ARTIFACT_PREFIX (with a slash at its end; recipe.json and
 * variables), IMAGE_REPOSITORY, IMAGE_TAG, PROJECT_ID. It exports IMAGE_DIGEST. Values of variables reach the build as arguments under index names, and no log shows them.
 */
export function renderBuildspec(): Record<string, unknown> {
  return {
    version: 0.2,
    env: { shell: "bash", "exported-variables": ["IMAGE_DIGEST"] },
    phases: {
      pre_build: { "on-failure": "ABORT", commands: [strict(fetch)] },
      build: {
        "on-failure": "ABORT",
        commands: [
          strict(build),
          `export IMAGE_DIGEST=$(jq -r '."containerimage.digest"' /tmp/metadata.json)`,
          'test -n "$IMAGE_DIGEST"',
        ],
      },
    },
  };
}
