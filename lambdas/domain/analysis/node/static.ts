import type { App } from "../app.ts";
import { commandsOf, invocationOf } from "../command.ts";
import { optionalJson } from "../manifests.ts";
import type { StaticSite } from "../plan.ts";
import { entriesAt, stringAt, type Table, tableAt, valueAt } from "../values.ts";
import { resolveCommand } from "./scripts.ts";

/** A static site, and the build command of its tool where package.json has no build script. */
export interface StaticBuild {
  site: StaticSite;
  build: string;
}

interface Tool {
  packages: readonly string[];
  /** The tool's own commands, which only develop or preview: none of them is a server of the app. */
  commands: RegExp;
  build: string;
  /** The folder of built files; undefined when the tool is not used for a site here. */
  dir(app: App, manifest: Table | undefined, dependencies: ReadonlyMap<string, string>): string | undefined;
}

const CONFIG_ENDINGS = ["js", "mjs", "cjs", "ts", "mts", "cts"];

/** The text of a tool's configuration file, whatever its ending, without comments. */
export function configText(app: App, name: string): string | undefined {
  const file = CONFIG_ENDINGS.map((ending) => `${name}.${ending}`).find((path) => app.has(path));
  return file === undefined ? undefined : app.text(file)?.replace(/\/\*[\s\S]*?\*\/|(^|[^:])\/\/.*$/gm, "$1");
}

/** Frameworks whose build has a server of its own, though vite makes it. */
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
];

const TOOLS: readonly Tool[] = [
  { packages: ["astro"], commands: /^astro$/, build: "astro build", dir: astroDir },
  {
    packages: ["react-scripts", "react-app-rewired", "@craco/craco"],
    commands: /^(react-scripts|react-app-rewired|craco)$/,
    build: "react-scripts build",
    dir: () => "build",
  },
  {
    packages: ["@angular/cli", "@angular-devkit/build-angular", "@angular/build"],
    commands: /^(ng|nx)$/,
    build: "ng build",
    dir: angularDir,
  },
  { packages: ["@vue/cli-service"], commands: /^vue-cli-service$/, build: "vue-cli-service build", dir: vueDir },
  { packages: ["gatsby"], commands: /^gatsby$/, build: "gatsby build", dir: () => "public" },
  { packages: ["@docusaurus/core"], commands: /^docusaurus$/, build: "docusaurus build", dir: () => "build" },
  { packages: ["vite", "rolldown-vite", "vite-plus"], commands: /^(vite|vp)$/, build: "vite build", dir: viteDir },
];

/** The static output of an app that has no server of its own (DETECTION, Start), undefined for every other app. */
export function staticBuild(
  app: App,
  manifest: Table | undefined,
  dependencies: ReadonlyMap<string, string>,
): StaticBuild | undefined {
  for (const tool of TOOLS) {
    if (!tool.packages.some((name) => dependencies.has(name))) continue;
    if (!onlyDevelops(app, manifest, dependencies, tool)) return undefined;
    const dir = tool.dir(app, manifest, dependencies);
    if (dir === undefined) continue;
    return { site: { dir, fallback: "index.html" }, build: tool.build };
  }
  return undefined;
}

/** True when scripts.start is missing or starts the tool itself, and a script builds what is to be served. */
function onlyDevelops(
  app: App,
  manifest: Table | undefined,
  dependencies: ReadonlyMap<string, string>,
  tool: Tool,
): boolean {
  const start = stringAt(manifest, "scripts", "start");
  const build = stringAt(manifest, "scripts", "build");
  if (start === undefined) return !hasServer(app, manifest, dependencies);
  if (build === undefined) return false;
  const { line } = resolveCommand(start, manifest, new Set(dependencies.keys()));
  const last = commandsOf(line).at(-1);
  const { program, words } = invocationOf(last?.text ?? "");
  const name = program === "npx" ? (words.find((word, index) => index > 0 && !word.startsWith("-")) ?? "") : program;
  return tool.commands.test(name.slice(name.lastIndexOf("/") + 1));
}

const SERVERS = [
  "express",
  "fastify",
  "koa",
  "@hapi/hapi",
  "hono",
  "@hono/node-server",
  "polka",
  "restify",
  "@nestjs/core",
  "h3",
  "@adonisjs/core",
  "apollo-server",
  "@apollo/server",
  "json-server",
  "socket.io",
  "elysia",
];

/** True when the app brings its own HTTP server: a server package and an entry file for it. */
function hasServer(app: App, manifest: Table | undefined, dependencies: ReadonlyMap<string, string>): boolean {
  if (!SERVERS.some((name) => dependencies.has(name))) return false;
  const main = stringAt(manifest, "main");
  const entries = ["server", "app", "index"].flatMap((name) =>
    CONFIG_ENDINGS.flatMap((ending) => [`${name}.${ending}`, `src/server.${ending}`]),
  );
  return (main !== undefined && app.has(main.replace(/^\.\//, ""))) || entries.some((path) => app.has(path));
}

/** A quoted value of a configuration text: `outDir: "site"`. */
function configured(text: string | undefined, key: string): string | undefined {
  const value = new RegExp(`\\b${key}\\s*:\\s*(?:path\\.(?:resolve|join)\\([^'"\`]*)?['"\`]([^'"\`$\\n]+)['"\`]`).exec(
    text ?? "",
  )?.[1];
  const clean = value?.replace(/^(\.?\/)+|\/+$/g, "");
  return clean === undefined || clean === "" || clean.split("/").includes("..") ? undefined : clean;
}

function astroDir(
  app: App,
  _manifest: Table | undefined,
  dependencies: ReadonlyMap<string, string>,
): string | undefined {
  const text = configText(app, "astro.config");
  const adapter = ["@astrojs/node", "@astrojs/vercel", "@astrojs/netlify", "@astrojs/cloudflare"].some((name) =>
    dependencies.has(name),
  );
  if (/\boutput\s*:\s*['"](server|hybrid)['"]/.test(text ?? "")) return undefined;
  if (adapter && /\badapter\s*:/.test(text ?? "")) return undefined;
  return configured(text, "outDir") ?? "dist";
}

function viteDir(app: App, manifest: Table | undefined, dependencies: ReadonlyMap<string, string>): string | undefined {
  if (SERVED.some((name) => dependencies.has(name))) return undefined;
  const text = configText(app, "vite.config");
  const root = configured(text, "root");
  const page = root === undefined ? "index.html" : `${root}/index.html`;
  if (!app.has(page) && !app.has("index.html")) return undefined;
  const flag = /--outDir[= ]+([\w./-]+)/.exec(stringAt(manifest, "scripts", "build") ?? "")?.[1];
  const out =
    flag ?? /\boutDir\s*:\s*(?:path\.(?:resolve|join)\([^'"`]*)?['"`]([^'"`$\n]+)/.exec(text ?? "")?.[1] ?? "dist";
  return within(root ?? "", out);
}

/** A folder seen from another, undefined when it leaves the app. */
function within(base: string, path: string): string | undefined {
  const names: string[] = [];
  for (const name of [...base.split("/"), ...path.split("/")]) {
    if (name === "..") {
      if (names.pop() === undefined) return undefined;
    } else if (name !== "" && name !== ".") names.push(name);
  }
  return names.length === 0 ? undefined : names.join("/");
}

function vueDir(app: App): string {
  return configured(configText(app, "vue.config"), "outputDir") ?? "dist";
}

function angularDir(app: App): string | undefined {
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

/** The server file of an Angular app with server-side rendering, undefined without. */
export function angularServer(app: App, manifest: Table | undefined): string | undefined {
  const script = entriesAt(manifest, "scripts").find(([name]) => name.startsWith("serve:ssr"))?.[1];
  return app.has("angular.json") && typeof script === "string" ? script : undefined;
}
