import { rm } from "node:fs/promises";
import { join } from "node:path";
import { build, type Metafile, type Plugin } from "esbuild";
import { bundleStaticServer } from "../../buildpack/image/static-server/bundle.ts";
import { bundleConsole } from "../../console/bundle.ts";
import { bundleReference } from "../../reference/bundle.ts";
import { onlyTable, tableRoutes } from "./groups.ts";
import { handlerFiles, missingHandlers } from "./handlers.ts";
import { environmentOnly, externals, quickBuiltins, unreachableCode, yamlModules } from "./lean.ts";

const root = join(import.meta.dirname, "..", "..");

/** CommonJS dependencies in the bundle still call `require` for built-in modules of Node.js. */
const requireBanner = "const require = (name) => process.getBuiltinModule(name);";

/**
 * Bundles all Lambdas into `outdir`. The routes that touch only the table are bundled apart from the others, so that they
 * load less. `files` are paths below lambdas/ without extension; throws if one does not exist.
 */
export async function bundleLambdas(outdir: string, files: readonly string[] = handlerFiles): Promise<Metafile> {
  const missing = missingHandlers(root).filter((file) => files.includes(file));
  if (missing.length > 0) {
    throw new Error(
      `These handlers are declared but have no file: ${missing.map((file) => `lambdas/${file}.ts`).join(", ")}.`,
    );
  }
  await rm(outdir, { recursive: true, force: true });
  // They are passed on as text, and esbuild is not available in Lambda to bundle them there.
  const define = {
    STATIC_SERVER: JSON.stringify(await bundleStaticServer()),
    CONSOLE_FILES: JSON.stringify(JSON.stringify(await bundleConsole("small"))),
    REFERENCE_SCRIPT: JSON.stringify(await bundleReference()),
  };
  const table = files.filter((file) => tableRoutes.has(file));
  const others = files.filter((file) => !tableRoutes.has(file));
  const metafiles = await Promise.all([
    ...(table.length > 0 ? [bundleGroup(outdir, table, { define, plugins: [onlyTable] })] : []),
    ...(others.length > 0 ? [bundleGroup(outdir, others, { define })] : []),
  ]);
  return {
    inputs: Object.assign({}, ...metafiles.map(({ inputs }) => inputs)),
    outputs: Object.assign({}, ...metafiles.map(({ outputs }) => outputs)),
  };
}

/** Bundles these Lambdas into `outdir`, with the code that they share in chunks. */
async function bundleGroup(
  outdir: string,
  files: readonly string[],
  { define, plugins = [] }: { define: Record<string, string>; plugins?: Plugin[] },
): Promise<Metafile> {
  const result = await build({
    absWorkingDir: root,
    entryPoints: files.map((file) => `lambdas/${file}.ts`),
    outbase: "lambdas",
    outdir,
    outExtension: { ".js": ".mjs" },
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node24",
    mainFields: ["module", "main"],
    conditions: ["module", "import", "node"],
    minify: true,
    metafile: true,
    legalComments: "none",
    logLevel: "warning",
    banner: { js: requireBanner },
    define,
    alias: yamlModules,
    external: externals,
    plugins: [...plugins, quickBuiltins, environmentOnly, unreachableCode],
  });
  return result.metafile;
}
