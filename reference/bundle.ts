import { fileURLToPath } from "node:url";
import { plainRouteTable } from "../sdk/plain-route-table.ts";
import { withEsbuild } from "./esbuild.ts";

let bundled: Promise<string> | undefined;

/** The script of the reference page, with the client, as one text for browsers; made once. */
export function bundleReference(): Promise<string> {
  bundled ??= bundle();
  return bundled;
}

async function bundle(): Promise<string> {
  const result = await withEsbuild(({ build }) =>
    build({
      entryPoints: [fileURLToPath(new URL("./main.ts", import.meta.url))],
      bundle: true,
      write: false,
      format: "esm",
      platform: "browser",
      target: "es2022",
      minify: true,
      charset: "ascii",
      logLevel: "silent",
      plugins: [plainRouteTable],
    }),
  );
  const [file] = result.outputFiles;
  if (file === undefined) throw new Error("esbuild gave no bundle of the reference page.");
  // Inside a page, this text would end the script.
  return file.text.replaceAll("</script", "<\\/script");
}
