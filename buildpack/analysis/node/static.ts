import type { App } from "../app.ts";
import { commandsOf, invocationOf } from "../command.ts";
import type { StaticSite } from "../plan.ts";
import { entriesAt, stringAt, type Table } from "../values.ts";
import { emberDir, farmDir, parcelDir, rsbuildDir, rspackDir, slidevDir, webpackDir } from "./bundlers.ts";
import type { Dependencies } from "./dependencies.ts";
import { generatedSite } from "./generators.ts";
import { resolveCommand } from "./scripts.ts";
import { angularDir, astroDir, moduleEndings, reactDir, viteDir, vueDir } from "./static-folders.ts";

/** A static site, and the build command of its tool where package.json has no build script. */
export interface StaticBuild {
  site: StaticSite;
  build: string;
  /** The build script's name, if it is not "build". */
  buildScript?: string;
}

interface Tool {
  packages: readonly string[];
  /** The tool's own development and preview commands, which do not serve the app in production. */
  commands: RegExp;
  build: string;
  /** True if each page is its own file, so that index.html is not served for other addresses. */
  hasPages?: boolean;
  /** The folder of built files; undefined when the tool is not used for a site here. */
  dir(app: App, manifest: Table | undefined, dependencies: Dependencies): string | undefined;
}

/** For tools whose development server a start script may run; a suggestion is then made (docs/detection.md, Suggestions). */
const NONE = /(?!)/;

const TOOLS: readonly Tool[] = [
  { packages: ["astro"], commands: /^astro$/, build: "astro build", hasPages: true, dir: astroDir },
  {
    packages: ["react-scripts", "react-app-rewired", "@craco/craco"],
    commands: /^(react-scripts|react-app-rewired|craco)$/,
    build: "react-scripts build",
    dir: reactDir,
  },
  {
    packages: ["@angular/cli", "@angular-devkit/build-angular", "@angular/build"],
    commands: /^(ng|nx)$/,
    build: "ng build",
    dir: angularDir,
  },
  { packages: ["@vue/cli-service"], commands: /^vue-cli-service$/, build: "vue-cli-service build", dir: vueDir },
  { packages: ["vite", "rolldown-vite", "vite-plus"], commands: /^(vite|vp)$/, build: "vite build", dir: viteDir },
  { packages: ["@rsbuild/core"], commands: /^rsbuild$/, build: "rsbuild build", dir: rsbuildDir },
  { packages: ["@rspack/core", "@rspack/cli"], commands: /^rspack$/, build: "rspack build", dir: rspackDir },
  { packages: ["@farmfe/core"], commands: /^farm$/, build: "farm build", dir: farmDir },
  { packages: ["ember-cli"], commands: /^ember$/, build: "ember build", dir: emberDir },
  { packages: ["@slidev/cli"], commands: /^slidev$/, build: "slidev build", dir: slidevDir },
  { packages: ["parcel", "parcel-bundler"], commands: NONE, build: "parcel build", dir: parcelDir },
  { packages: ["webpack"], commands: NONE, build: "webpack", dir: webpackDir },
];

/** The static output of an app that has no server of its own (docs/detection.md, Start), undefined for every other app. */
export function staticBuild(
  app: App,
  manifest: Table | undefined,
  dependencies: Dependencies,
): StaticBuild | undefined {
  const generated = generatedSite(app, manifest, dependencies);
  if (generated !== undefined && onlyDevelops(app, manifest, dependencies, generated.commands, true)) {
    const { dir, isSinglePage, script, build } = generated;
    return { site: siteOf(dir, isSinglePage), build, ...(script !== null && { buildScript: script }) };
  }
  for (const tool of TOOLS) {
    if (!tool.packages.some((name) => dependencies.has(name))) continue;
    const builds = stringAt(manifest, "scripts", "build") !== undefined;
    if (!onlyDevelops(app, manifest, dependencies, tool.commands, builds)) continue;
    const dir = tool.dir(app, manifest, dependencies);
    if (dir === undefined) continue;
    return { site: siteOf(dir, tool.hasPages !== true), build: tool.build };
  }
  return undefined;
}

/** A built folder to serve: an app that routes in the browser serves index.html for every address; a multi-page site has its own 404.html. */
export const siteOf = (dir: string, isSinglePage: boolean): StaticSite => ({
  dir,
  fallback: isSinglePage ? "index.html" : "404.html",
});

/** True if scripts.start is missing or runs the tool itself, and the build command is known. */
function onlyDevelops(
  app: App,
  manifest: Table | undefined,
  dependencies: Dependencies,
  commands: RegExp,
  builds: boolean,
): boolean {
  const start = stringAt(manifest, "scripts", "start");
  if (start === undefined) return !hasServer(app, manifest, dependencies);
  if (!builds) return false;
  const { line } = resolveCommand(start, manifest, new Set(dependencies.keys()));
  const last = commandsOf(line).at(-1);
  const { program, words } = invocationOf(last?.text ?? "");
  const name = program === "npx" ? (words.find((word, index) => index > 0 && !word.startsWith("-")) ?? "") : program;
  return commands.test(name.slice(name.lastIndexOf("/") + 1));
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
function hasServer(app: App, manifest: Table | undefined, dependencies: Dependencies): boolean {
  if (!SERVERS.some((name) => dependencies.has(name))) return false;
  const main = stringAt(manifest, "main");
  const entries = ["server", "app", "index"].flatMap((name) =>
    moduleEndings.flatMap((ending) => [`${name}.${ending}`, `src/server.${ending}`]),
  );
  return (main !== undefined && app.has(main.replace(/^\.\//, ""))) || entries.some((path) => app.has(path));
}

/** The server file of an Angular app with server-side rendering, undefined without. */
export function angularServer(app: App, manifest: Table | undefined): string | undefined {
  const script = entriesAt(manifest, "scripts").find(([name]) => name.startsWith("serve:ssr"))?.[1];
  return app.has("angular.json") && typeof script === "string" ? script : undefined;
}
