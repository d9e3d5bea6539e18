/** The tag of the cached layers for the project's next build; each build overwrites it. A build's own image is tagged with its id once. */
export const cacheTag = "cache";

/** BuildKit 0.26.2, by its digest: the same image wherever it is pulled from. */
const buildkit = "moby/buildkit@sha256:de10faf919fc71ba4eb1dd7bd6449566d012b0c9436b1c61bfee21d621b009aa";

/**
 * Pulls BuildKit and chooses the registry of the base images: the stack's own copies (BASE_REGISTRY), which ECR makes at the
 * first pull, or the public registry, which allows few anonymous pulls, if these are not available.
 */
const prepareBuildKit = [
  // The embedded CodeBuild names a builder that exists, and which has or pulls the public images.
  'if [ -z "${BUILDX_BUILDER:-}" ]; then',
  "base=${BASE_REGISTRY:-public.ecr.aws}",
  "first=$(sed -n '\\|^FROM public.ecr.aws/|{s|||p;q;}' /tmp/build/Dockerfile)",
  'docker buildx imagetools inspect "$base/${first%% *}" > /dev/null 2>&1 ||',
  '  { echo "The copies of base images cannot be read; they are pulled from public.ecr.aws."; base=public.ecr.aws; }',
  'sed -i "s|^FROM public.ecr.aws/|FROM $base/|" /tmp/build/Dockerfile',
  'for registry in "$base/vend" public.ecr.aws/vend docker.io; do',
  `  docker pull --quiet "$registry/${buildkit}" > /dev/null 2>&1 && break`,
  "done",
  `docker buildx create --use --name slipway --driver-opt "image=$registry/${buildkit}" > /dev/null`,
  "fi",
];

/** Stops at the first error, and never prints commands, even if the calling shell does. */
const silent = ["set -euo pipefail", "set +x"];

/**
 * Requests this build's access data. The response is secret: its file is removed before the app's code runs, and its URLs and
 * password are passed to curl and docker through a pipe, because other processes can read a command line.
 * A response without an archive is an error of the function, although the aws command exits with 0. Addresses and passwords need no
 * escapes in JSON, so the shell parses them, because starting jq is slow. docker login runs in parallel.
 */
const requestAccess = [
  "mkdir -p /tmp/build /tmp/source /tmp/slipway",
  "umask 077",
  `printf '{"imageBuildId":"%s"}' "$CODEBUILD_BUILD_ID" > /tmp/build/question.json`,
  `part_of_access() { local pattern='"'$1'": *"([^"\\]+)"'; [[ $access =~ $pattern ]] && REPLY=\${BASH_REMATCH[1]}; }`,
  "ask() {",
  '  aws lambda invoke --function-name "$ACCESS_FUNCTION" --payload fileb:///tmp/build/question.json /tmp/build/buildAccess.json > /dev/null &&',
  "    access=$(< /tmp/build/buildAccess.json) && part_of_access archive && archive=$REPLY &&",
  "    part_of_access recipe && recipe=$REPLY && part_of_access registryPassword && password=$REPLY",
  "}",
  "ask || { sleep 2; ask; } || { sleep 8; ask; } ||",
  '  { echo "The service did not give this build access to its source. Build again."; exit 1; }',
  "rm /tmp/build/buildAccess.json",
  // Shows docker login's output only if it fails: otherwise it is only a warning about the password file.
  "log_in() {",
  '  printf %s "$password" | docker login --username AWS --password-stdin "${IMAGE_REPOSITORY%%/*}" > /tmp/build/login.txt 2>&1 ||',
  "    { cat /tmp/build/login.txt; return 1; }",
  "}",
  "log_in &",
  `printf 'url = "%s"\noutput = "%s"\n' "$archive" /tmp/source.zip "$recipe" /tmp/build/recipe.json |`,
  "  curl --config - --silent --show-error --fail --fail-early --connect-timeout 10 --retry 3",
];

/** What the recipe becomes: each part ended by NUL, the values of variables last. */
const recipeParts = `"Detected: \\(.plan.runtime) with \\(.plan.packageManager.name). Started with: \\(.plan.start)\\u0000" +
  .plan.root + "\\u0000" + .dockerfile + "\\u0000" + .dockerignore + "\\u0000" + (.staticServer // "") + "\\u0000",
  (.variables[].value + "\\u0000")`;

/**
 * Unpacks the archive; unzip's exit code 1 is only a warning, such as for backslashes in names. In the POSIX locale, which is
 * CodeBuild's, unzip of Amazon Linux would write `日` in a name as `#U65e5`.
 */
const prepare = [
  `jq -j '${recipeParts}' /tmp/build/recipe.json > /tmp/build/parts`,
  "part() { IFS= read -r -d '' REPLY; }",
  "{",
  "  part; printf '%s\\n' \"$REPLY\"",
  ...["build/root", "build/Dockerfile", "build/Dockerfile.dockerignore", "slipway/static-server.mjs"].map(
    (path) => `  part; printf %s "$REPLY" > /tmp/${path}`,
  ),
  "  cat > /tmp/build/values",
  "} < /tmp/build/parts",
  "LC_ALL=C.UTF-8 unzip -q -o /tmp/source.zip -d /tmp/source || test $? -eq 1",
  "chmod -R u+rwX /tmp/source",
  "wait $!",
  ...prepareBuildKit,
];

/** Values hold no NUL (docs/api.md, Environment variables): the file is split at NUL, and the values become arguments of one process only. */
const build = [
  ...silent,
  "root=$(< /tmp/build/root)",
  "repository=$IMAGE_REPOSITORY/$PROJECT_ID",
  "arguments=()",
  'while IFS= read -r -d "" value; do arguments+=(--build-arg "_E$((${#arguments[@]} / 2))=$value"); done < /tmp/build/values',
  [
    "docker buildx build --file /tmp/build/Dockerfile --build-context slipway=/tmp/slipway",
    '--platform "${IMAGE_PLATFORM:-linux/arm64}" --provenance=false --sbom=false --progress plain',
    `--cache-from "type=registry,ref=$repository:${cacheTag}"`,
    `--cache-to "type=registry,ref=$repository:${cacheTag},mode=max,image-manifest=true,oci-mediatypes=true,ignore-error=true"`,
    '--metadata-file /tmp/metadata.json --tag "$repository:$IMAGE_TAG" --push',
    // An empty array under `set -u` is an error in bash before 4.4.
    '${arguments[@]+"${arguments[@]}"} "/tmp/source/$root"',
  ].join(" \\\n  "),
];

/** Runs a script in its own shell, so that `set -e` does not end CodeBuild's shell. */
const strict = (lines: readonly string[]): string => ["(", ...lines, ")"].join("\n");

/**
 * What CodeBuild runs (its buildspec, as an object). Of its environment it reads CODEBUILD_BUILD_ID, ACCESS_FUNCTION (the function
 * that returns its files and its registry password), BASE_REGISTRY (the copies of public images), IMAGE_REPOSITORY (the prefix of all
 * projects' repositories), IMAGE_TAG and PROJECT_ID, and for an embedded CodeBuild
 * BUILDX_BUILDER (the builder to use) and IMAGE_PLATFORM (that of this machine). It exports IMAGE_DIGEST. Only a local build exports IMAGE_WARNING, if its runtime is not exactly the requested one;
 * a base image always is. Values of variables become build arguments named by index, and no log shows them.
 */
export function renderBuildspec(): Record<string, unknown> {
  return {
    version: 0.2,
    env: { shell: "bash", "exported-variables": ["IMAGE_DIGEST"] },
    phases: {
      pre_build: { "on-failure": "ABORT", commands: [strict([...silent, ...requestAccess, ...prepare])] },
      build: {
        "on-failure": "ABORT",
        commands: [
          strict(build),
          `export IMAGE_DIGEST=$(sed -n 's/.*"containerimage\\.digest": *"\\([^"]*\\)".*/\\1/p' /tmp/metadata.json)`,
          'test -n "$IMAGE_DIGEST"',
        ],
      },
    },
  };
}
