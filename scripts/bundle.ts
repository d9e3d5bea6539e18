import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { renderBuildspec } from "../buildpack/image/buildspec.ts";
import { bundleLambdas } from "./bundle/bundle.ts";

const dist = join(import.meta.dirname, "..", "dist");

/**
 * The build command of cdk.json, which the CDK runs before every synth, diff and deploy. It writes dist/lambdas, the asset
 * of all functions, esbuild's metafile of it, and the buildspec of image builds. It prints to stderr, because stdout of
 * `cdk synth` is the template.
 */
try {
  const startedMs = performance.now();
  const metafile = await bundleLambdas(join(dist, "lambdas"));
  await writeFile(join(dist, "lambdas.metafile.json"), JSON.stringify(metafile));
  await writeFile(join(dist, "image-build.buildspec.json"), JSON.stringify(renderBuildspec(), null, 2));
  const outputs = Object.values(metafile.outputs);
  const bytes = outputs.reduce((sum, output) => sum + output.bytes, 0);
  const entries = outputs.filter(
    (output) => output.entryPoint?.startsWith("lambdas/") && output.exports.includes("handler"),
  );
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  console.error(`${entries.length} functions, ${Math.round(bytes / 1024)} KB, in ${seconds} s: dist/lambdas`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
