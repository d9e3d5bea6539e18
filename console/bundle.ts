import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import type { OutputFile, Plugin } from "esbuild";
import { withEsbuild } from "../reference/esbuild.ts";
import { plainRouteTable } from "../sdk/plain-route-table.ts";

/** A file of the console. `index.html` is the page; all others are below /console/assets/ and have a hash in their names. */
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

/**
 * Puts everything that `app.tsx` imports into one file. esbuild makes a file for each set of entry points that share a module;
 * with this plug-in, every group of pages imports all of `app.tsx`, so there is one set.
 */
const oneFileForApp: Plugin = {
  name: "one-file-for-app",
  setup(build) {
    build.onLoad({ filter: /[/\\]console[/\\]page-groups[/\\]/ }, async ({ path }) => ({
      contents: `import "../app.tsx";\n${await readFile(path, "utf8")}`,
      loader: "ts",
    }));
  },
};

interface FirstFiles {
  script: string;
  /** What the script imports. */
  imports: readonly string[];
  style: string;
  icon: string;
}

/** The page. Its preloads start at the same time as the script: the script's imports, and the request for the session. */
function indexOf({ script, imports, style, icon }: FirstFiles): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Slipway</title>
<link rel="icon" href="/console/assets/${icon}" type="image/svg+xml">
<link rel="stylesheet" href="/console/assets/${style}">
<link rel="preload" href="/console/session" as="fetch" crossorigin>
${imports.map((name) => `<link rel="modulepreload" href="/console/assets/${name}">\n`).join("")}<script type="module" src="/console/assets/${script}"></script>
</head>
<body>
<noscript>The console needs JavaScript. Everything that it does can also be done with the command line and the API.</noscript>
</body>
</html>
`;
}

const path = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** All files of the console for browsers. `quick` compresses less, for a service that bundles on the first request. */
export async function bundleConsole(effort: "quick" | "small"): Promise<ConsoleFile[]> {
  const { outputFiles, metafile } = await withEsbuild(({ build }) =>
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
      metafile: true,
      format: "esm",
      platform: "browser",
      target: "es2022",
      minify: true,
      legalComments: "none",
      logLevel: "silent",
      plugins: [plainRouteTable, oneFileForApp],
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
  const script = nameOf("main", ".js");
  const imports = Object.entries(metafile.outputs)
    .filter(([file]) => basename(file) === script)
    .flatMap(([, output]) => output.imports.filter(({ kind }) => kind === "import-statement"))
    .map(({ path }) => basename(path));
  const index = indexOf({ script, imports, style: nameOf("main", ".css"), icon: nameOf("icon", ".svg") });
  return Promise.all([
    fileOf("index.html", index, quality),
    ...outputFiles.map((file) => fileOf(basename(file.path), file.contents, quality)),
  ]);
}
