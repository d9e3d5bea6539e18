import type { App } from "../app.ts";
import { optionalJson } from "../manifests.ts";
import { withoutComments } from "../source.ts";
import { entriesAt, stringAt, type Table, tableAt, valueAt } from "../values.ts";
import type { Dependencies } from "./dependencies.ts";

/** The endings of modules that Node.js runs. */
export const moduleEndings = ["js", "mjs", "cjs", "ts", "mts", "cts"];

/** The text of a tool's configuration file, whatever its ending, without comments. */
export function configText(app: App, name: string): string | undefined {
  const file = moduleEndings.map((ending) => `${name}.${ending}`).find((path) => app.has(path));
  const text = file === undefined ? undefined : app.text(file);
  return file === undefined || text === undefined ? undefined : withoutComments(file, text);
}

/** Frameworks that build with vite and have their own server. */
const SERVED = [
  "@sveltejs/kit",
  "@react-router/dev",
  "@remix-run/dev",
  "@remix-run/react",
  "@solidjs/start",
  "solid-start",
  "@tanstack/react-start",
  "@tanstack/start",
  "@tanstack/solid-start",
  "@builder.io/qwik-city",
  "vike",
  "vite-plugin-ssr",
  "vinxi",
  "nuxt",
  "nuxt3",
  "next",
  "@analogjs/platform",
  "astro",
  "electron",
  "@nestjs/core",
  "@redwoodjs/vite",
  "@hono/vite-build",
  "nitro",
  "nitropack",
  "waku",
  "rakkasjs",
  "vite-ssr",
  "@angular/core",
  "vitepress",
  "vuepress",
];

/** A quoted value of a configuration text: `outDir: "site"`. */
export function configured(text: string | undefined, key: string): string | undefined {
  const clean = rawValue(text, key)?.replace(/^(\.?\/)+|\/+$/g, "");
  return clean === undefined || clean === "" || clean.split("/").includes("..") ? undefined : clean;
}

/** Normalizes a declared path to a folder of the app; undefined if it is outside the app or invalid. */
export function relativeFolder(path: string | undefined): string | undefined {
  const clean = path?.replace(/^(\.?\/)+|\/+$/g, "");
  return clean === undefined || !/^[\w@.-]+(\/[\w@.-]+)*$/.test(clean) || clean.split("/").includes("..")
    ? undefined
    : clean;
}

/** A quoted value of a configuration text, unchanged. */
export const rawValue = (text: string | undefined, key: string): string | undefined =>
  new RegExp(`\\b${key}\\s*:\\s*(?:path\\.(?:resolve|join)\\([^'"\`]*)?['"\`]([^'"\`$\\n]+)['"\`]`).exec(
    text ?? "",
  )?.[1];

/** The output folder of an Astro site, undefined when it is rendered by a server. */
export function astroDir(app: App, _manifest: Table | undefined, dependencies: Dependencies): string | undefined {
  const text = configText(app, "astro.config");
  const adapter = ["@astrojs/node", "@astrojs/vercel", "@astrojs/netlify", "@astrojs/cloudflare"].some((name) =>
    dependencies.has(name),
  );
  if (/\boutput\s*:\s*['"](server|hybrid)['"]/.test(text ?? "")) return undefined;
  if (adapter && /\badapter\s*:/.test(text ?? "")) return undefined;
  return configured(text, "outDir") ?? "dist";
}

/** The output folder of a single-page app built by vite, undefined for libraries and for frameworks with a server. */
export function viteDir(app: App, manifest: Table | undefined, dependencies: Dependencies): string | undefined {
  if (SERVED.some((name) => dependencies.has(name))) return undefined;
  const text = configText(app, "vite.config");
  // Cloudflare's plugin writes the worker next to the browser files.
  if (dependencies.has("@cloudflare/vite-plugin") && /\bcloudflare\s*\(/.test(text ?? "")) return "dist/client";
  const root = configured(text, "root");
  const page = root === undefined ? "index.html" : `${root}/index.html`;
  if (!app.has(page) && !app.has("index.html")) return undefined;
  const flag = /--outDir[= ]+([\w./-]+)/.exec(stringAt(manifest, "scripts", "build") ?? "")?.[1];
  const out =
    flag ?? /\boutDir\s*:\s*(?:path\.(?:resolve|join)\([^'"`]*)?['"`]([^'"`$\n]+)/.exec(text ?? "")?.[1] ?? "dist";
  return within(root ?? "", out);
}

/** Resolves a folder relative to another; undefined if the result is outside the app. */
export function within(base: string, path: string): string | undefined {
  const names: string[] = [];
  for (const name of [...base.split("/"), ...path.split("/")]) {
    if (name === "..") {
      if (names.pop() === undefined) return undefined;
    } else if (name !== "" && name !== ".") names.push(name);
  }
  return names.length === 0 ? undefined : names.join("/");
}

/** The output folder of Create React App, which its build script may name in BUILD_PATH. */
export function reactDir(_app: App, manifest: Table | undefined): string | undefined {
  const path = /\bBUILD_PATH=['"]?([\w./-]+)/.exec(stringAt(manifest, "scripts", "build") ?? "")?.[1];
  return within("", path ?? "build");
}

/** The output folder of vue-cli. */
export function vueDir(app: App): string {
  return configured(configText(app, "vue.config"), "outputDir") ?? "dist";
}

/** The output folder of the workspace's app, undefined with server-side rendering. */
export function angularDir(app: App): string | undefined {
  const workspace = optionalJson(app, "angular.json");
  const projects = entriesAt(workspace, "projects").filter(
    ([, project]) => stringAt(project, "projectType") !== "library",
  );
  const wanted = stringAt(workspace, "defaultProject");
  const [name, project] = projects.find(([key]) => key === wanted) ?? projects[0] ?? [];
  if (name === undefined) return undefined;
  const target = tableAt(project, "architect", "build");
  const build = Object.keys(target).length === 0 ? tableAt(project, "targets", "build") : target;
  const builder = stringAt(build, "builder") ?? "";
  if (valueAt(build, "options", "server") !== undefined || valueAt(build, "options", "ssr") !== undefined)
    return undefined;
  const output = valueAt(build, "options", "outputPath");
  const base = (typeof output === "string" ? output : stringAt(output, "base")) ?? `dist/${name}`;
  const browser = typeof output === "string" ? undefined : valueAt(output, "browser");
  const folder = /:application$/.test(builder) ? (typeof browser === "string" ? browser : "browser") : "";
  return within(base, folder);
}
