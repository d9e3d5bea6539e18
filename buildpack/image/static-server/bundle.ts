import { fileURLToPath } from "node:url";
import { build, stop } from "esbuild";

let bundled: Promise<string> | undefined;

/** The static server and what it imports as the text of one module for every offered line of Node.js; made once. */
export function bundleStaticServer(): Promise<string> {
  bundled ??= bundle();
  return bundled;
}

async function bundle(): Promise<string> {
  const result = await build({
    entryPoints: [fileURLToPath(new URL("./main.ts", import.meta.url))],
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    target: "node22",
    minify: true,
    logLevel: "silent",
    banner: { js: "// Contains sirv, totalist, mrmime and @polka/url: MIT License, Copyright (c) Luke Edwards." },
  });
  // Otherwise esbuild's process would run as long as the service.
  await stop();
  const [file] = result.outputFiles;
  if (file === undefined) throw new Error("esbuild gave no bundle of the static server.");
  return file.text;
}
