import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import * as z from "zod";
import { renderBuildspec } from "../../../lambdas/domain/image/buildspec.ts";
import { encodeVariables } from "../../../lambdas/domain/image/variables.ts";

const spec = z
  .object({ phases: z.record(z.string(), z.object({ commands: z.array(z.string()) })) })
  .parse(renderBuildspec());
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Programs that write down how they were called, in front of PATH; /tmp of the scripts is a folder of this test. */
function workshop(values: { name: string; value: string }[]) {
  const folder = mkdtempSync(join(tmpdir(), "buildspec-"));
  folders.push(folder);
  const bin = join(folder, "bin");
  mkdirSync(bin);
  mkdirSync(join(folder, "store"));
  const program = (name: string, text: string) => {
    writeFileSync(join(bin, name), `#!/bin/bash\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  writeFileSync(
    join(folder, "store", "recipe.json"),
    JSON.stringify({ plan: { root: "web app" }, dockerfile: "FROM x\n", dockerignore: ".git\n", staticServer: null }),
  );
  writeFileSync(join(folder, "store", "variables"), encodeVariables(values));
  program(
    "aws",
    `case "$1 $2" in "s3 cp") cp "${folder}/store/\${4##*/}" "$5";; "s3api get-object") : > "\${@: -1}";; *) echo token;; esac`,
  );
  program("unzip", "exit 1");
  program(
    "docker",
    `if [ "$1 $2" = "buildx build" ]; then printf '%s\\0' "$@" > ${folder}/arguments; echo '{"containerimage.digest":"sha256:abc"}' > ${folder}/metadata.json; fi`,
  );
  const commands = Object.values(spec.phases).flatMap((phase) => phase.commands);
  const script = commands.map((command) => command.replaceAll("/tmp/", `${folder}/`)).join(" || exit 1\n");
  const env = {
    PATH: `${bin}:/usr/bin:/bin`,
    ARTIFACT_BUCKET: "b",
    ARTIFACT_PREFIX: "builds/1/",
    SOURCE_BUCKET: "s",
    SOURCE_KEY: "k",
    SOURCE_VERSION: "v",
    IMAGE_REPOSITORY: "1.dkr.ecr/apps",
    IMAGE_TAG: "bld_1",
    PROJECT_ID: "prj_1",
  };
  const output = execFileSync("/bin/bash", ["-c", `${script}\necho "digest $IMAGE_DIGEST"`], {
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  return { output, folder, words: readFileSync(join(folder, "arguments"), "utf8").split("\0").slice(0, -1) };
}

test("every byte of a variable reaches the build as an argument, and none of it the log", () => {
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
  const { words, output } = workshop(values.map((value, index) => ({ name: `N${index}`, value })));
  const passed = words.filter((_, index) => words[index - 1] === "--build-arg");
  expect(passed).toEqual(values.map((value, index) => `_E${index}=${value}`));
  for (const value of values.filter((text) => text.length > 3)) expect(output).not.toContain(value);
  expect(output).toContain("digest sha256:abc");
});

test("the build has the project's cache, the app's folder and no provenance", () => {
  const { words, folder } = workshop([]);
  expect(words.at(-1)).toBe(`${folder}/source/web app`);
  expect(words).toContain("--provenance=false");
  expect(words).not.toContain("--build-arg");
  expect(words.join(" ")).toContain("ref=1.dkr.ecr/apps:cache-prj_1,mode=max");
  expect(readFileSync(join(folder, "build", "Dockerfile"), "utf8")).toBe("FROM x\n");
});

test("the digest is exported, and the buildspec is plain data", () => {
  expect(renderBuildspec()).toMatchObject({ version: 0.2, env: { "exported-variables": ["IMAGE_DIGEST"] } });
  expect(JSON.parse(JSON.stringify(renderBuildspec()))).toEqual(renderBuildspec());
});
