import type { App } from "../app.ts";
import { stringAt, type Table } from "../values.ts";
import type { Dependencies } from "./dependencies.ts";
import { configText, configured, relativeFolder } from "./static-folders.ts";

/** The build script, if it runs the tool: a tool that builds something else (a library's documentation) produces no site. */
function buildWith(tool: RegExp, manifest: Table | undefined): string | undefined {
  const script = stringAt(manifest, "scripts", "build");
  return script !== undefined && tool.test(script) ? script : undefined;
}

/** The output folder of rsbuild, undefined where a server renders the pages. */
export function rsbuildDir(app: App, manifest: Table | undefined): string | undefined {
  const text = configText(app, "rsbuild.config") ?? "";
  if (buildWith(/\brsbuild build\b/, manifest) === undefined || /\btarget\s*:\s*['"]node['"]/.test(text)) {
    return undefined;
  }
  return configured(/\bdistPath\s*:\s*\{[^}]*\}/.exec(text)?.[0], "root") ?? configured(text, "distPath") ?? "dist";
}

/** The output folder of Rspack, undefined unless its plugin writes the page. */
export function rspackDir(app: App, manifest: Table | undefined): string | undefined {
  const text = configText(app, "rspack.config");
  if (buildWith(/\brspack build\b/, manifest) === undefined || !/HtmlRspackPlugin|html-webpack/i.test(text ?? "")) {
    return undefined;
  }
  return configured(text, "path") ?? "dist";
}

/** The output folder of Farm. */
export const farmDir = (app: App, manifest: Table | undefined): string | undefined =>
  app.has("index.html") && buildWith(/\bfarm build\b/, manifest) !== undefined ? "dist" : undefined;

/** The output folder of Ember. */
export const emberDir = (_app: App, manifest: Table | undefined): string | undefined =>
  buildWith(/\bember build\b/, manifest) === undefined ? undefined : "dist";

/** The output folder of Slidev. */
export const slidevDir = (_app: App, manifest: Table | undefined): string | undefined =>
  buildWith(/\bslidev build\b/, manifest) === undefined ? undefined : "dist";

/** The output folder of parcel, undefined when it builds a library. */
export function parcelDir(app: App, manifest: Table | undefined): string | undefined {
  const build = buildWith(/\bparcel build\b/, manifest);
  if (build === undefined) return undefined;
  const pages = [stringAt(manifest, "source") ?? "", build].some((text) => /\.html\b/.test(text));
  if (!pages && !app.has("index.html")) return undefined;
  return relativeFolder(/--(?:dist-dir|out-dir)[= ]+(\S+)/.exec(build)?.[1]) ?? "dist";
}

/** The output folder of webpack, undefined unless its plugin writes the page and its own server is all that serves it. */
export function webpackDir(app: App, manifest: Table | undefined, dependencies: Dependencies): string | undefined {
  if (!dependencies.has("html-webpack-plugin") || !dependencies.has("webpack-dev-server")) return undefined;
  if (buildWith(/\bwebpack\b(?! serve)/, manifest) === undefined) return undefined;
  const names = ["webpack.config", "webpack.prod", "webpack.common", "webpack.config.prod"];
  return names.map((name) => configured(configText(app, name), "path")).find((dir) => dir !== undefined) ?? "dist";
}
