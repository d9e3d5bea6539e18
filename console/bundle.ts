import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import type { OutputFile } from "esbuild";
import { withEsbuild } from "../reference/esbuild.ts";
import { plainRouteTable } from "../sdk/plain-route-table.ts";

/** A file of the console. `index.html` is the page; all others are below /console/assets/, with a hash in their name. */
export interface ConsoleFile {
  name: string;
  contentType: string;
  /** The file in brotli's format, as base64. */
  brotli: string;
}

const contentTypes: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  html: "text/html; charset=utf-8",
};

const compress = promisify(brotliCompress);

async function fileOf(name: string, contents: Uint8Array | string, quality: number): Promise<ConsoleFile> {
  const extension = name.slice(name.lastIndexOf(".") + 1);
  const brotli = await compress(contents, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } });
  const contentType = contentTypes[extension];
  if (contentType === undefined) throw new Error(`The console's bundle contains ${name}, whose type is unknown.`);
  return { name, contentType, brotli: brotli.toString("base64") };
}

function indexOf(script: string, style: string, icon: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Slipway</title>
<link rel="icon" href="/console/assets/${icon}" type="image/svg+xml">
<link rel="stylesheet" href="/console/assets/${style}">
<script type="module" src="/console/assets/${script}"></script>
</head>
<body>
<noscript>The console needs JavaScript. Everything that it does can also be done with the command line and the API.</noscript>
</body>
</html>
`;
}

const path = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** All files of the console for browsers. `quick` compresses less, for a service that bundles when it is asked. */
export async function bundleConsole(effort: "quick" | "small"): Promise<ConsoleFile[]> {
  const { outputFiles } = await withEsbuild(({ build }) =>
    build({
      entryPoints: { main: path("./main.tsx"), icon: path("./icon.svg") },
      tsconfig: path("../tsconfig.browser.json"),
      outdir: path("."),
      entryNames: "[name]-[hash]",
      chunkNames: "[name]-[hash]",
      assetNames: "[name]-[hash]",
      publicPath: "/console/assets/",
      loader: { ".svg": "copy" },
      bundle: true,
      splitting: true,
      write: false,
      format: "esm",
      platform: "browser",
      target: "es2022",
      minify: true,
      legalComments: "none",
      logLevel: "silent",
      plugins: [plainRouteTable],
    }),
  );
  const nameOf = (start: string, extension: string) => {
    const found = outputFiles
      .map((file: OutputFile) => basename(file.path))
      .find((name) => name.startsWith(`${start}-`) && name.endsWith(extension));
    if (found === undefined) throw new Error(`esbuild gave no ${start}${extension}.`);
    return found;
  };
  const quality = effort === "quick" ? 4 : constants.BROTLI_MAX_QUALITY;
  const index = indexOf(nameOf("main", ".js"), nameOf("main", ".css"), nameOf("icon", ".svg"));
  return Promise.all([
    fileOf("index.html", index, quality),
    ...outputFiles.map((file) => fileOf(basename(file.path), file.contents, quality)),
  ]);
}
