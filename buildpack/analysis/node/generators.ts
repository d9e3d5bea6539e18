import { type App, rootFiles } from "../app.ts";
import { invocationOf } from "../command.ts";
import { entriesAt, stringAt, type Table } from "../values.ts";
import { configText, configured, rawValue, relativeFolder, within } from "./static-folders.ts";

/** A tool that builds a site or a single-page app from sources. */
interface Generator {
  packages: readonly string[];
  /** The tool's own commands, which only develop, build or preview. */
  commands: RegExp;
  /** Matches a build script; the first capturing group, if any, is the source folder. */
  builds: RegExp;
  build: string;
  /** True if the site routes in the browser: index.html is served for every address. */
  isSinglePage?: boolean;
  dir(app: App, found: { folder: string; script: string }): string;
}

const SOURCES = String.raw`(?:\s+(?!-)([\w./-]+))?`;

const flag = (script: string, names: string): string | undefined =>
  relativeFolder(new RegExp(`(?:^|\\s)(?:${names})[= ]+([\\w./-]+)`).exec(script)?.[1]);

const below = (folder: string, path: string): string => (folder === "" ? path : `${folder}/${path}`);

const GENERATORS: readonly Generator[] = [
  {
    packages: ["vitepress"],
    commands: /^vitepress$/,
    builds: new RegExp(`\\bvitepress build\\b${SOURCES}`),
    build: "vitepress build",
    dir: (app, { folder, script }) =>
      flag(script, "--outDir") ??
      within(folder, rawValue(configText(app, below(folder, ".vitepress/config")), "outDir") ?? ".vitepress/dist") ??
      below(folder, ".vitepress/dist"),
  },
  {
    packages: ["vuepress", "vuepress-vite", "vuepress-webpack"],
    commands: /^vuepress(-vite|-webpack)?$/,
    builds: new RegExp(`\\bvuepress(?:-vite|-webpack)? build\\b${SOURCES}`),
    build: "vuepress build",
    dir: (app, { folder, script }) =>
      flag(script, "-d|--dest") ??
      configured(configText(app, below(folder, ".vuepress/config")), "dest") ??
      below(folder, ".vuepress/dist"),
  },
  {
    packages: ["hexo"],
    commands: /^hexo$/,
    builds: /\bhexo (?:generate|g)\b/,
    build: "hexo generate",
    dir: (app) => relativeFolder(/^public_dir:[ \t]*([\w./-]+)/m.exec(app.text("_config.yml") ?? "")?.[1]) ?? "public",
  },
  {
    packages: ["@docusaurus/core"],
    commands: /^docusaurus$/,
    builds: /\bdocusaurus build\b/,
    build: "docusaurus build",
    dir: (_, { script }) => flag(script, "--out-dir") ?? "build",
  },
  {
    packages: ["gatsby"],
    commands: /^gatsby$/,
    builds: /\bgatsby build\b/,
    build: "gatsby build",
    dir: () => "public",
  },
  {
    packages: ["@11ty/eleventy"],
    commands: /^eleventy$/,
    builds: /\beleventy\b(?![^;&|]*--(?:serve|watch))/,
    build: "eleventy",
    dir: (app, { script }) =>
      flag(script, "--output") ??
      configured(configText(app, "eleventy.config") ?? configText(app, ".eleventy"), "output") ??
      "_site",
  },
  {
    packages: ["@rspress/core", "rspress"],
    commands: /^rspress$/,
    builds: /\brspress build\b/,
    build: "rspress build",
    dir: (app) => configured(configText(app, "rspress.config"), "outDir") ?? "doc_build",
  },
  { packages: ["dumi"], commands: /^dumi$/, builds: /\bdumi build\b/, build: "dumi build", dir: () => "dist" },
  {
    packages: ["gridsome"],
    commands: /^gridsome$/,
    builds: /\bgridsome build\b/,
    build: "gridsome build",
    dir: () => "dist",
  },
  {
    packages: ["honkit"],
    commands: /^honkit$/,
    builds: new RegExp(`\\bhonkit build\\b${SOURCES}`),
    build: "honkit build",
    dir: (_, { folder }) => below(folder, "_book"),
  },
  {
    packages: ["hugo-bin", "hugo-extended"],
    commands: /^hugo$/,
    builds: /\bhugo\b(?! (?:server|serve|new|mod)\b)/,
    build: "hugo",
    dir: () => "public",
  },
  {
    packages: ["preact-cli"],
    commands: /^preact$/,
    builds: /\bpreact build\b/,
    build: "preact build",
    isSinglePage: true,
    dir: (_, { script }) => flag(script, "--dest") ?? "build",
  },
  {
    packages: ["umi", "@umijs/max", "@umijs/umi"],
    commands: /^(umi|max)$/,
    builds: /\b(?:umi|max) build\b/,
    build: "umi build",
    isSinglePage: true,
    dir: (app) => configured(configText(app, ".umirc") ?? configText(app, "config/config"), "outputPath") ?? "dist",
  },
  {
    packages: ["@stencil/core"],
    commands: /^stencil$/,
    builds: /\bstencil build\b(?![^;&|]*--(?:dev|watch|serve))/,
    build: "stencil build",
    isSinglePage: true,
    dir: (app) => configured(configText(app, "stencil.config"), "dir") ?? "www",
  },
  {
    packages: ["brunch"],
    commands: /^brunch$/,
    builds: /\bbrunch (?:build|b)\b/,
    build: "brunch build --production",
    isSinglePage: true,
    dir: (app) => configured(configText(app, "brunch-config"), "public") ?? "public",
  },
  {
    packages: ["polymer-cli"],
    commands: /^polymer$/,
    builds: /\bpolymer build\b/,
    build: "polymer build",
    isSinglePage: true,
    dir: (app) => `build/${polymerBuild(app.text("polymer.json")) ?? "default"}`,
  },
  {
    packages: ["@quasar/app-vite", "@quasar/app-webpack", "@quasar/app"],
    commands: /^quasar$/,
    builds: /\bquasar build\b(?![^;&|]*-m (?!spa))/,
    build: "quasar build",
    isSinglePage: true,
    dir: () => "dist/spa",
  },
  {
    packages: ["snowpack"],
    commands: /^snowpack$/,
    builds: /\bsnowpack build\b/,
    build: "snowpack build",
    isSinglePage: true,
    dir: (app) => configured(configText(app, "snowpack.config"), "out") ?? "build",
  },
];

/** The name or preset of the first build of a polymer.json, which is the folder below build/. */
const polymerBuild = (text: string | undefined): string | undefined =>
  /"builds"\s*:\s*\[\s*\{[^}]*?"(?:name|preset)"\s*:\s*"([\w.-]+)"/.exec(text ?? "")?.[1];

/** The generator's output folder and the script that builds it; null if the tool's own command is used. */
export interface GeneratedSite {
  dir: string;
  isSinglePage: boolean;
  script: string | null;
  build: string;
  commands: RegExp;
}

/**
 * The site of the first generator that the app depends on and builds with; undefined for every other app. Its build script may
 * have any name (`docs:build`) if the app has no build script and no entry file of its own.
 */
export function generatedSite(
  app: App,
  manifest: Table | undefined,
  dependencies: ReadonlyMap<string, string>,
): GeneratedSite | undefined {
  for (const generator of GENERATORS) {
    if (!generator.packages.some((name) => dependencies.has(name))) continue;
    const found = buildScript(app, manifest, generator);
    if (found === undefined) continue;
    const folder = relativeFolder(generator.builds.exec(found.text)?.[1]) ?? "";
    return {
      dir: generator.dir(app, { folder, script: found.text }),
      isSinglePage: generator.isSinglePage === true,
      script: found.name,
      build: generator.build,
      commands: generator.commands,
    };
  }
  return undefined;
}

function buildScript(
  app: App,
  manifest: Table | undefined,
  generator: Generator,
): { name: string | null; text: string } | undefined {
  const build = stringAt(manifest, "scripts", "build");
  if (build !== undefined) return generator.builds.test(build) ? { name: "build", text: build } : undefined;
  if (hasEntry(app, manifest)) return undefined;
  for (const [name, text] of entriesAt(manifest, "scripts")) {
    if (typeof text === "string" && generator.builds.test(text) && !/^(pre|post)/.test(name)) return { name, text };
  }
  // A script that starts the development server shows as clearly as a build script that the app uses the tool.
  const develops = entriesAt(manifest, "scripts").some(
    ([name, text]) =>
      /^(start|dev|develop|serve|watch)\b/.test(name) &&
      typeof text === "string" &&
      generator.commands.test(invocationOf(text).program),
  );
  return develops ? { name: null, text: "" } : undefined;
}

const hasEntry = (app: App, manifest: Table | undefined): boolean =>
  app.has((stringAt(manifest, "main") ?? "").replace(/^\.\//, "")) ||
  rootFiles(app).some((name) => /^(server|app|main|index)\.[cm]?[jt]s$/.test(name));
