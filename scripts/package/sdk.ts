import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build } from "esbuild";
import * as z from "zod";
import { plainRouteTable } from "../../sdk/plain-route-table.ts";
import { requireBanner } from "./require-banner.ts";
import { run } from "./run.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const own = z.object({ version: z.string(), license: z.string(), dependencies: z.record(z.string(), z.string()) });

/** The options of each bundle of the SDK. Signing comes along; zod stays a dependency, used where replies are checked. */
const shared: BuildOptions = {
  absWorkingDir: root,
  bundle: true,
  format: "esm",
  external: ["zod"],
  mainFields: ["module", "main"],
  legalComments: "none",
  logLevel: "warning",
  plugins: [plainRouteTable],
};

/** The JavaScript of a browser's entry, minified as an app's own bundler would do. */
export async function browserBundle(options: { minify?: boolean; write?: string } = {}): Promise<string> {
  const result = await build({
    ...shared,
    entryPoints: ["sdk/browser.ts"],
    platform: "browser",
    target: "es2022",
    minify: options.minify ?? false,
    write: false,
  });
  const [file] = result.outputFiles ?? [];
  if (file === undefined) throw new Error("esbuild gave no bundle of the SDK.");
  if (options.write !== undefined) await writeFile(options.write, file.text);
  return file.text;
}

async function nodeBundle(folder: string): Promise<void> {
  await build({
    ...shared,
    entryPoints: { index: "sdk/node.ts", replies: "sdk/replies.ts" },
    outdir: folder,
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    platform: "node",
    target: "node20",
    banner: { js: requireBanner },
  });
}

/** TypeScript leaves the endings of imports in declarations as they are in the source. */
async function renameImports(folder: string): Promise<void> {
  const files = await readdir(folder, { recursive: true });
  for (const file of files.filter((name) => name.endsWith(".d.ts"))) {
    const path = join(folder, file);
    const text = await readFile(path, "utf8");
    await writeFile(path, text.replaceAll(/(["'])(\.\.?\/[^"']*)\.ts\1/g, "$1$2.js$1"));
  }
}

async function declarations(folder: string): Promise<void> {
  const project = join(root, "scripts/package/tsconfig.json");
  // Several checkers would each compute the types that they share, which takes three times the processor time.
  await run("tsc", ["-p", project, "--checkers", "1", "--outDir", folder], root);
  await renameImports(folder);
}

/** Writes the installable package of the SDK into a folder: JavaScript for Node.js and browsers, types, package.json. */
export async function buildSdk(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await Promise.all([
    nodeBundle(folder),
    browserBundle({ write: join(folder, "browser.js") }),
    declarations(join(folder, "types")),
    cp(join(root, "LICENSE"), join(folder, "LICENSE")),
    cp(join(root, "sdk/README.md"), join(folder, "README.md")),
  ]);
  const { version, license, dependencies } = own.parse(JSON.parse(await readFile(join(root, "package.json"), "utf8")));
  const entry = (name: string, file: string) => ({ types: `./types/sdk/${name}.d.ts`, default: `./${file}.js` });
  const description = {
    name: "slipway-sdk",
    version,
    description: "Client of the Slipway deployment service, for Node.js and browsers.",
    license,
    type: "module",
    sideEffects: false,
    engines: { node: ">=20" },
    exports: {
      ".": { browser: entry("browser", "browser"), ...entry("node", "index") },
      "./replies": entry("replies", "replies"),
    },
    dependencies: { zod: dependencies.zod },
  };
  await writeFile(join(folder, "package.json"), `${JSON.stringify(description, null, 2)}\n`);
}
