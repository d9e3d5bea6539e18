import { execFile } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import * as z from "zod";
import { renderBuildspec } from "../../../../buildpack/image/buildspec.ts";
import { imageBuildServices } from "../../../../statemachines/steps.ts";

const spec = z
  .object({ phases: z.record(z.string(), z.object({ commands: z.array(z.string()) })) })
  .parse(renderBuildspec());
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const imageBuildId = "slipway-build:0f8fad5b-d9cb-469f-a165-70867728950e";
const password = "registry-pass-word";

interface Workshop {
  dockerfile?: string;
  /** The start of the names of images that no registry gives. */
  refused?: string;
  values?: { name: string; value: string }[];
  /** Further variables of the build. */
  variables?: Record<string, string>;
  /** What `docker login` does after it has read its input. */
  login?: string;
  /** The function's responses, one per call; the last one repeats. */
  answers?: (files: Record<"archive" | "recipe", string>) => object[];
}

/** Programs at the start of PATH that record their calls; the scripts' /tmp is a folder of this test. */
async function workshop({
  values = [],
  answers,
  dockerfile = "FROM x\n",
  refused = "-",
  variables = {},
  login = "",
}: Workshop) {
  const folder = mkdtempSync(join(tmpdir(), "buildspec-"));
  folders.push(folder);
  const bin = join(folder, "bin");
  mkdirSync(bin);
  mkdirSync(join(folder, "store"));
  const program = (name: string, text: string) => {
    writeFileSync(join(bin, name), `#!/bin/bash\nprintf '%s\\0' ${name} "$@" >> ${folder}/calls\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  const store = (name: string, text: string) => {
    writeFileSync(join(folder, "store", name), text);
    return `file://${folder}/store/${name}?X-Amz-Signature=signature`;
  };
  const files = {
    archive: store("source.zip", "PK"),
    recipe: store(
      "recipe.json",
      JSON.stringify({
        plan: { root: "web app" },
        dockerfile,
        dockerignore: ".git\n",
        staticServer: null,
        variables: values,
      }),
    ),
  };
  const said = answers?.(files) ?? [{ ...files, registryPassword: password }];
  for (const [index, answer] of said.entries()) store(`answer-${index}`, JSON.stringify(answer));
  program(
    "aws",
    `next=${folder}/store/answer-$(grep -zc '^aws$' ${folder}/calls | awk '{print $1-1}')
    test -f $next || next=${folder}/store/answer-${said.length - 1}
    cp $next "\${@: -1}"; echo '{"StatusCode":200}'`,
  );
  program("curl", 'exec /usr/bin/curl "$@"');
  program("sleep", "");
  // As unzip of Amazon Linux: it warns with exit code 1, and escapes names outside UTF-8 locales.
  program(
    "unzip",
    `case "\${LC_ALL:-}" in *.UTF-8) name=日本.txt;; *) name='#U65e5#U672c.txt';; esac
    mkdir -p "\${@: -1}"; touch "\${@: -1}/$name"; exit 1`,
  );
  program(
    "docker",
    `case "$1 $2" in
      "pull --quiet") case "$3" in ${refused}*) exit 1;; esac;;
      "buildx imagetools") case "$4" in ${refused}*) exit 1;; esac;;
      "login "*) cat > ${folder}/login; echo "WARNING! Your password will be stored unencrypted" >&2
        ${login || ":"};;
      "buildx build") printf '%s\\0' "$@" > ${folder}/arguments
        ls -a ${folder} ${folder}/build > ${folder}/left; echo '{"containerimage.digest":"sha256:abc"}' > ${folder}/metadata.json;;
    esac`,
  );
  const commands = Object.values(spec.phases).flatMap((phase) => phase.commands);
  // As CodeBuild does it: behind `||` a shell forgets `set -e`.
  const script = commands
    .map((command) => `${command.replaceAll("/tmp/", `${folder}/`)}\n[ $? -eq 0 ] || exit 1`)
    .join("\n");
  const env = {
    PATH: `${bin}:/usr/bin:/bin`,
    CODEBUILD_BUILD_ID: imageBuildId,
    ACCESS_FUNCTION: "Slipway-grant-build-access",
    BASE_REGISTRY: "1.dkr.ecr/base",
    IMAGE_REPOSITORY: "1.dkr.ecr/apps",
    IMAGE_TAG: "bld_1",
    PROJECT_ID: "prj_1",
    ...variables,
  };
  const ended = Promise.withResolvers<{ succeeded: boolean; output: string }>();
  // With -x a shell prints its commands, which a person may turn on for debugging.
  execFile("/bin/bash", ["-x", "-c", `${script}\necho "digest $IMAGE_DIGEST"`], { env }, (error, output, problems) =>
    ended.resolve({ succeeded: error === null, output: output + problems }),
  );
  const result = await ended.promise;
  const words = (name: string) => {
    const path = join(folder, name);
    return existsSync(path) ? readFileSync(path, "utf8").split("\0").slice(0, -1) : [];
  };
  return { ...result, folder, words: words("arguments"), calls: words("calls") };
}

test("every byte of a variable reaches the build as an argument, and none of it the log", async () => {
  const values = [
    "plain",
    "two words",
    "line\nbreak",
    "tail\n",
    "quote ' \" `x` $HOME ${A} \\ \\n",
    "emoji 🚀",
    "a=b=c",
    "",
    "-x",
  ];
  const { words, output } = await workshop({ values: values.map((value, index) => ({ name: `N${index}`, value })) });
  const passed = words.filter((_, index) => words[index - 1] === "--build-arg");
  expect(passed).toEqual(values.map((value, index) => `_E${index}=${value}`));
  for (const value of values.filter((text) => text.length > 3)) expect(output).not.toContain(value);
  expect(output).toContain("digest sha256:abc");
});

test("the build has the project's own repository and cache, the app's folder and no provenance", async () => {
  const { words, folder } = await workshop({});
  expect(words.at(-1)).toBe(`${folder}/source/web app`);
  expect(words).toContain("--provenance=false");
  expect(words).not.toContain("--build-arg");
  expect(words).toContain("1.dkr.ecr/apps/prj_1:bld_1");
  expect(words.join(" ")).toContain("ref=1.dkr.ecr/apps/prj_1:cache,mode=max");
  expect(readFileSync(join(folder, "build", "Dockerfile"), "utf8")).toBe("FROM x\n");
});

test("BuildKit is pulled by its digest, and base images from the stack's copies", async () => {
  const { calls, folder } = await workshop({
    dockerfile:
      "FROM public.ecr.aws/docker/library/node:24 AS build\nRUN echo public.ecr.aws/\nFROM build AS source\nFROM public.ecr.aws/docker/library/node:24-slim\n",
  });
  expect(readFileSync(join(folder, "build", "Dockerfile"), "utf8")).toBe(
    "FROM 1.dkr.ecr/base/docker/library/node:24 AS build\nRUN echo public.ecr.aws/\nFROM build AS source\nFROM 1.dkr.ecr/base/docker/library/node:24-slim\n",
  );
  expect(calls).toContain("1.dkr.ecr/base/docker/library/node:24");
  const image = calls.find((word) => word.startsWith("image="));
  expect(image).toMatch(/^image=1\.dkr\.ecr\/base\/vend\/moby\/buildkit@sha256:[0-9a-f]{64}$/);
});

test("without the stack's copies everything is pulled from public registries, by the same digest", async () => {
  const { calls, folder, output } = await workshop({
    refused: "1.dkr.ecr/base",
    dockerfile: "FROM public.ecr.aws/x\n",
  });
  expect(readFileSync(join(folder, "build", "Dockerfile"), "utf8")).toBe("FROM public.ecr.aws/x\n");
  expect(calls.find((word) => word.startsWith("image="))).toMatch(
    /^image=public\.ecr\.aws\/vend\/moby\/buildkit@sha256:/,
  );
  expect(output).toContain("The copies of base images cannot be read; they are pulled from public.ecr.aws.");
});

test("AWS builds for ARM; an embedded CodeBuild names its platform and a builder that exists", async () => {
  const onAws = await workshop({});
  expect(onAws.words[onAws.words.indexOf("--platform") + 1]).toBe("linux/arm64");
  expect(onAws.calls).toContain("create");
  const dockerfile = "FROM public.ecr.aws/x\n";
  const variables = { IMAGE_PLATFORM: "linux/amd64", BUILDX_BUILDER: "default" };
  const { calls, words, folder } = await workshop({ dockerfile, variables });
  expect(words[words.indexOf("--platform") + 1]).toBe("linux/amd64");
  expect(calls.filter((word) => ["pull", "create", "imagetools"].includes(word))).toEqual([]);
  expect(readFileSync(join(folder, "build", "Dockerfile"), "utf8")).toBe(dockerfile);
});

test("a file keeps a name beyond ASCII", async () => {
  const { folder, succeeded } = await workshop({});
  expect([succeeded, readdirSync(join(folder, "source"))]).toEqual([true, ["日本.txt"]]);
});

test("the build asks with nothing but its own id, and in the form that the function takes", async () => {
  const { calls, folder } = await workshop({});
  const question = JSON.parse(readFileSync(join(folder, "build", "question.json"), "utf8"));
  expect(imageBuildServices["grant-build-access"].input.parse(question)).toEqual({ imageBuildId });
  expect(calls.slice(0, 5)).toEqual(["aws", "lambda", "invoke", "--function-name", "Slipway-grant-build-access"]);
});

test("neither an address nor the registry's password is in the log, on a command line, or left when the app's code runs", async () => {
  const { succeeded, output, calls, folder } = await workshop({});
  expect(succeeded).toBe(true);
  expect(readFileSync(join(folder, "login"), "utf8")).toBe(password);
  expect(calls).toContain("--password-stdin");
  expect(calls).toContain("curl");
  for (const secret of ["signature", "file://", password]) {
    expect(output).not.toContain(secret);
    expect(calls.join(" ")).not.toContain(secret);
  }
  expect(readFileSync(join(folder, "left"), "utf8")).toContain("question.json");
  const left = readFileSync(join(folder, "left"), "utf8").split("\n");
  for (const name of ["access", "buildAccess.json"]) expect(left).not.toContain(name);
  expect(output).not.toContain("stored unencrypted");
});

test.each([
  ["refused by S3", 403],
  ["gone", 404],
])("an address that is %s ends the build, and the error does not tell it", async (_, status) => {
  const store = createServer((request, response) => {
    response.writeHead(status).end(`<Error><Resource>${request.url}</Resource></Error>`);
  });
  await new Promise<void>((resolve) => store.listen(0, "127.0.0.1", resolve));
  const { port } = store.address() as AddressInfo;
  const archive = `http://127.0.0.1:${port}/archives/a.zip?X-Amz-Signature=signature`;
  const { succeeded, output, words } = await workshop({
    answers: (files) => [{ ...files, archive, registryPassword: password }],
  });
  store.close();
  expect([succeeded, words]).toEqual([false, []]);
  expect(output).toContain(String(status));
  for (const secret of ["signature", "archives", password]) expect(output).not.toContain(secret);
});

test("an address that leads nowhere ends the build, and the error does not tell it", async () => {
  const archive = "http://127.0.0.1:9/archives/a.zip?X-Amz-Signature=signature";
  const { succeeded, output } = await workshop({
    answers: (files) => [{ ...files, archive, registryPassword: password }],
  });
  expect(succeeded).toBe(false);
  for (const secret of ["signature", "archives"]) expect(output).not.toContain(secret);
});

const failed = { errorType: "Error", errorMessage: "The image build could not be given access." };

test("a login that fails ends the build with the registry's reason", async () => {
  const { succeeded, output, words } = await workshop({ login: "echo 'unauthorized: no' >&2; exit 1" });
  expect([succeeded, words]).toEqual([false, []]);
  expect(output).toContain("unauthorized: no");
  expect(output).not.toContain(password);
});

test("a function that fails twice is asked a third time", async () => {
  const { succeeded, calls } = await workshop({
    answers: (files) => [failed, failed, { ...files, registryPassword: password }],
  });
  expect([succeeded, calls.filter((word) => word === "aws").length]).toEqual([true, 3]);
});

test("a function that keeps failing ends the build with a sentence", async () => {
  const { succeeded, output, words } = await workshop({ answers: () => [failed] });
  expect([succeeded, words]).toEqual([false, []]);
  expect(output).toContain("The service did not give this build access to its source. Build again.");
});

test("the digest is exported, and the buildspec is plain data", () => {
  expect(renderBuildspec()).toMatchObject({ version: 0.2, env: { "exported-variables": ["IMAGE_DIGEST"] } });
  expect(JSON.parse(JSON.stringify(renderBuildspec()))).toEqual(renderBuildspec());
});
