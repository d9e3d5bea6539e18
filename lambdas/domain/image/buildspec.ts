/**
 * What CodeBuild runs (its buildspec, as an object). Its environment names what to build: SOURCE_BUCKET, SOURCE_KEY,
 * SOURCE_VERSION (the pinned archive), ARTIFACT_BUCKET, ARTIFACT_PREFIX (recipe.json and variables),
 * IMAGE_REPOSITORY, IMAGE_TAG, PROJECT_ID. It exports IMAGE_DIGEST. Values of variables reach the build as arguments
 * under index names, read from the NUL-separated file, and no log shows them.
 */
export function renderBuildspec(): object {
  return {
    version: 0.2,
    env: { shell: "bash", "exported-variables": ["IMAGE_DIGEST"] },
    phases: {
      pre_build: {
        commands: [
          "set -eu",
          "mkdir -p /tmp/build /tmp/source",
          'for name in recipe.json variables; do aws s3 cp --only-show-errors "s3://$ARTIFACT_BUCKET/$ARTIFACT_PREFIX$name" "/tmp/build/$name"; done',
          "jq -j .dockerfile /tmp/build/recipe.json > /tmp/build/Dockerfile",
          "jq -j .dockerignore /tmp/build/recipe.json > /tmp/build/Dockerfile.dockerignore",
          "mkdir -p /tmp/slipway && jq -j '.staticServer // empty' /tmp/build/recipe.json > /tmp/slipway/static-server.mjs",
          'aws s3api get-object --bucket "$SOURCE_BUCKET" --key "$SOURCE_KEY" --version-id "$SOURCE_VERSION" /tmp/source.zip > /dev/null',
          "unzip -q -o /tmp/source.zip -d /tmp/source",
          'aws ecr get-login-password | docker login --username AWS --password-stdin "${IMAGE_REPOSITORY%%/*}"',
          "docker buildx create --use --name slipway > /dev/null",
        ],
      },
      build: {
        commands: [
          [
            "set -eu",
            "root=$(jq -r .plan.root /tmp/build/recipe.json)",
            "arguments=()",
            "index=0",
            'while IFS= read -r -d "" entry; do arguments+=(--build-arg "_E$index=${entry#*=}"); index=$((index + 1)); done < /tmp/build/variables',
            'docker buildx build --file /tmp/build/Dockerfile --build-context slipway=/tmp/slipway --platform linux/arm64 --provenance=false --progress plain --cache-from "type=registry,ref=$IMAGE_REPOSITORY:cache-$PROJECT_ID" --cache-to "type=registry,ref=$IMAGE_REPOSITORY:cache-$PROJECT_ID,mode=max,image-manifest=true,oci-mediatypes=true,ignore-error=true" --metadata-file /tmp/metadata.json --tag "$IMAGE_REPOSITORY:$IMAGE_TAG" --push "${arguments[@]}" "/tmp/source/$root"',
            `export IMAGE_DIGEST=$(jq -r '."containerimage.digest"' /tmp/metadata.json)`,
            'test -n "$IMAGE_DIGEST"',
          ].join("\n"),
        ],
      },
    },
  };
}
