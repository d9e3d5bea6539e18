import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { buildah, buildahCall } from "../../scripts/images/buildah.ts";

/**
 * Stands in for `docker` in the buildspec's shell: hands `buildx build` to buildah. All that buildah 1.28 cannot do as
 * BuildKit does is here: it knows no COPY --link (a matter of caching alone), it looks for Dockerfile.dockerignore below the
 * context only, and there is no registry to push to or to keep a cache in, no arm64 and no attestation to leave out.
 */
async function buildxBuild(args: string[]): Promise<number> {
  const one = { type: "string" } as const;
  const many = { type: "string", multiple: true } as const;
  // An option that the buildspec gains fails here, until it is said what becomes of it.
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      file: one,
      "build-context": many,
      "build-arg": many,
      tag: one,
      "metadata-file": one,
      platform: one,
      provenance: one,
      sbom: one,
      progress: one,
      "cache-from": one,
      "cache-to": one,
      push: { type: "boolean" },
    },
  });
  const { file = "", tag = "", "build-arg": variables = [], "build-context": contexts = [] } = values;
  const known = `${file}.buildah`;
  writeFileSync(known, readFileSync(file, "utf8").replaceAll(/^COPY --link /gm, "COPY "));
  writeFileSync(`${file}.arguments`, JSON.stringify(variables));
  const { flags, env } = buildahCall();
  const passed = [
    ...["--file", known, "--ignorefile", `${file}.dockerignore`, "--tag", tag],
    ...contexts.flatMap((context) => ["--build-context", context]),
    ...variables.flatMap((variable) => ["--build-arg", variable]),
  ];
  const built = spawnSync("buildah", [...flags, "build", "--pull-never", ...passed, ...positionals], {
    env,
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (built.error) throw built.error;
  if (built.status !== 0) return built.status ?? 1;
  const digest = await buildah(["inspect", "--type", "image", "--format", "{{.FromImageDigest}}", tag]);
  writeFileSync(values["metadata-file"] ?? "", JSON.stringify({ "containerimage.digest": digest }));
  return 0;
}

/** Reads the password to its end, as docker does: the program that writes it would otherwise be ended by SIGPIPE, and with it the build. */
async function login(): Promise<number> {
  if ((await text(process.stdin)) !== "") return 0;
  process.stderr.write("Error: password is empty\n");
  return 1;
}

const [command, subcommand, ...args] = process.argv.slice(2);
if (command === "buildx" && subcommand === "build") process.exitCode = await buildxBuild(args);
if (command === "login") process.exitCode = await login();
