import { chmod, cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import * as z from "zod";
import { lazyReplySchemas } from "../../sdk/lazy-reply-schemas.ts";
import { plainRouteTable } from "../../sdk/plain-route-table.ts";
import { quickBuiltinsBy } from "../bundle/lean.ts";
import { requireBanner } from "./require-banner.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const own = z.object({ version: z.string(), license: z.string() });

/** Our own modules write the prefix; these names are those that dependencies use. */
const builtins = /^(node:.+|events|fs|stream|util|zlib)$/;

/** Writes the installable package of the command line into a folder: one bundle without dependencies, split by command. */
export async function buildCli(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await build({
    absWorkingDir: root,
    entryPoints: { slipway: "cli/main.ts" },
    outdir: folder,
    bundle: true,
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    format: "esm",
    platform: "node",
    target: "node20",
    mainFields: ["module", "main"],
    legalComments: "linked",
    logLevel: "warning",
    banner: { js: `${requireBanner} const __builtin = require;` },
    plugins: [quickBuiltinsBy("__builtin", builtins), plainRouteTable, lazyReplySchemas],
  });
  const main = join(folder, "slipway.js");
  await writeFile(main, `#!/usr/bin/env node\n${await readFile(main, "utf8")}`);
  await chmod(main, 0o755);
  await cp(join(root, "LICENSE"), join(folder, "LICENSE"));
  const { version, license } = own.parse(JSON.parse(await readFile(join(root, "package.json"), "utf8")));
  const description = {
    name: "slipway-cli",
    version,
    description: "The command line of the Slipway deployment service.",
    license,
    type: "module",
    bin: { slipway: "slipway.js" },
    engines: { node: ">=20.12" },
  };
  await writeFile(join(folder, "package.json"), `${JSON.stringify(description, null, 2)}\n`);
}
