import { expect, test } from "vitest";
import { analysisOf, errorOf } from "./tree.ts";

type Files = Record<string, string | object>;
const planOf = (manifest: object, files: Files = {}) => analysisOf({ "package.json": manifest, ...files }).plan;
const dev = (...names: string[]) => Object.fromEntries(names.map((name) => [name, "^1.0.0"]));

test.each<[string, object, Files, string, string | null]>([
  [
    "a Procfile before a start script",
    { scripts: { start: "node b.js" } },
    { Procfile: "web: node a.js", "a.js": "" },
    "node a.js",
    null,
  ],
  [
    "a Procfile that names a script",
    { scripts: { start: "node b.js", prestart: "node up.js" } },
    { Procfile: "web: npm start" },
    "node b.js",
    "node up.js",
  ],
  [
    "scripts.start",
    { scripts: { start: "node b.js" }, main: "c.js" },
    { "b.js": "", "c.js": "", "server.js": "" },
    "node b.js",
    null,
  ],
  [
    "scripts.start with prestart",
    { scripts: { start: "node b.js", prestart: "prisma migrate deploy" } },
    {},
    "node b.js",
    "prisma migrate deploy",
  ],
  [
    "a start script that calls another",
    { scripts: { start: "npm run serve", serve: "yarn go -- --x", go: "node b.js", preserve: "node up.js" } },
    {},
    "node b.js --x",
    "node up.js",
  ],
  [
    "a start script that calls another with variables",
    { scripts: { start: "NODE_ENV=production npm run serve", serve: "node b.js" } },
    { "b.js": "" },
    "NODE_ENV=production node b.js",
    null,
  ],
  [
    "a start script with steps before",
    { scripts: { start: "npm run migrate && npm run serve", serve: "node b.js" } },
    {},
    "npm run migrate && node b.js",
    null,
  ],
  ["a start script that calls itself", { scripts: { start: "npm start" } }, {}, "npm start", null],
  [
    "a program through npx",
    { scripts: { start: "npx next start" }, dependencies: dev("next") },
    {},
    "next start",
    null,
  ],
  ["next", { dependencies: dev("next") }, {}, "next start", null],
  ["nuxt", { dependencies: { nuxt: "^4.0.0" } }, {}, "node .output/server/index.mjs", null],
  ["nuxt 2", { dependencies: { nuxt: "^2.17.0" } }, {}, "nuxt start", null],
  [
    "sveltekit",
    { devDependencies: dev("@sveltejs/kit", "vite", "@sveltejs/adapter-node") },
    { "svelte.config.js": "import adapter from '@sveltejs/adapter-node'" },
    "node build",
    null,
  ],
  ["nest", { dependencies: dev("@nestjs/core") }, { "src/main.ts": "" }, "node dist/main", null],
  [
    "react-router",
    { dependencies: dev("@react-router/serve"), devDependencies: dev("@react-router/dev", "vite") },
    {},
    "react-router-serve ./build/server/index.js",
    null,
  ],
  [
    "remix",
    { dependencies: dev("@remix-run/serve"), devDependencies: dev("@remix-run/dev", "vite") },
    { "vite.config.ts": "" },
    "remix-serve ./build/server/index.js",
    null,
  ],
  [
    "astro with the node adapter",
    { dependencies: dev("astro", "@astrojs/node") },
    { "astro.config.mjs": "adapter: node({ mode: 'standalone' })" },
    "node ./dist/server/entry.mjs",
    null,
  ],
  ["main", { main: "./lib/run.js" }, { "lib/run.js": "", "server.js": "" }, "node lib/run.js", null],
  ["main without its ending", { main: "lib/run" }, { "lib/run.js": "" }, "node lib/run.js", null],
  [
    "main in dist with a build",
    { main: "dist/index.js", scripts: { build: "tsc" } },
    { "src/index.ts": "" },
    "node dist/index.js",
    null,
  ],
  ["main that does not exist", { main: "nowhere.js" }, { "app.mjs": "" }, "node app.mjs", null],
  ["server before app", {}, { "server.ts": "", "app.js": "" }, "node server.ts", null],
  ["app before main and index", {}, { "index.js": "", "main.js": "", "app.cts": "" }, "node app.cts", null],
  ["a root file before src", {}, { "src/server.js": "", "index.js": "" }, "node index.js", null],
  ["src", {}, { "src/index.mts": "" }, "node src/index.mts", null],
])("%s", (_, manifest, files, start, prestart) => {
  expect(planOf(manifest, files)).toMatchObject({ start, prestart, static: null });
});

test.each<[string, object, Files, string, string]>([
  [
    "vite",
    { scripts: { dev: "vite", build: "vite build" }, devDependencies: dev("vite") },
    { "index.html": "" },
    "dist",
    "npm run build",
  ],
  [
    "vite with another folder",
    { scripts: { build: "vite build" }, devDependencies: dev("vite") },
    { "index.html": "", "vite.config.ts": "export default { build: { outDir: 'site' } }" },
    "site",
    "npm run build",
  ],
  [
    "vite whose start is the preview",
    { scripts: { start: "vite preview", build: "vite build" }, devDependencies: dev("vite") },
    { "index.html": "" },
    "dist",
    "npm run build",
  ],
  ["vite without scripts", { devDependencies: dev("vite") }, { "index.html": "" }, "dist", "vite build"],
  [
    "react-scripts",
    { scripts: { start: "react-scripts start", build: "react-scripts build" }, dependencies: dev("react-scripts") },
    {},
    "build",
    "npm run build",
  ],
  [
    "react-scripts with another folder",
    { scripts: { build: "BUILD_PATH='./site' react-scripts build" }, dependencies: dev("react-scripts") },
    {},
    "site",
    "npm run build",
  ],
  [
    "angular",
    { scripts: { start: "ng serve", build: "ng build" }, devDependencies: dev("@angular/cli") },
    {
      "angular.json": {
        projects: {
          shop: {
            projectType: "application",
            architect: { build: { builder: "@angular/build:application", options: {} } },
          },
        },
      },
    },
    "dist/shop/browser",
    "npm run build",
  ],
  [
    "angular with the old builder",
    { scripts: { start: "ng serve", build: "ng build" }, devDependencies: dev("@angular/cli") },
    {
      "angular.json": {
        projects: {
          shop: {
            architect: {
              build: { builder: "@angular-devkit/build-angular:browser", options: { outputPath: "dist/web" } },
            },
          },
        },
      },
    },
    "dist/web",
    "npm run build",
  ],
  [
    "vue-cli",
    {
      scripts: { serve: "vue-cli-service serve", build: "vue-cli-service build" },
      devDependencies: dev("@vue/cli-service"),
    },
    {},
    "dist",
    "npm run build",
  ],
])("a site without a server is served as files: %s", (_, manifest, files, dir, build) => {
  const analysis = analysisOf({ "package.json": manifest, "package-lock.json": "{}", ...files });
  expect(analysis.plan).toMatchObject({
    static: { dir, fallback: "index.html" },
    start: `node .slipway/static-server.mjs ${dir}`,
    port: 8080,
    build,
  });
  expect(analysis.suggestions.map(({ code }) => code)).not.toContain("development_start");
});

test.each<[string, object, Files, string, string]>([
  [
    "astro",
    { scripts: { start: "astro dev", build: "astro build" }, dependencies: dev("astro") },
    {},
    "dist",
    "npm run build",
  ],
  [
    "next with output export",
    { scripts: { start: "next start", build: "next build" }, dependencies: dev("next") },
    { "next.config.js": "module.exports = { output: 'export' }" },
    "out",
    "npm run build",
  ],
  [
    "sveltekit with the static adapter",
    { scripts: { build: "vite build" }, devDependencies: dev("@sveltejs/kit", "@sveltejs/adapter-static", "vite") },
    { "svelte.config.js": "import a from '@sveltejs/adapter-static'" },
    "build",
    "npm run build",
  ],
  [
    "next with output export and another folder",
    { scripts: { build: "next build" }, dependencies: dev("next") },
    { "next.config.mjs": "export default { output: 'export', distDir: './dist' }" },
    "dist",
    "npm run build",
  ],
  [
    "sveltekit with another folder",
    { scripts: { build: "vite build" }, devDependencies: dev("@sveltejs/kit", "@sveltejs/adapter-static", "vite") },
    { "svelte.config.js": "import a from '@sveltejs/adapter-static'\nadapter: a({ pages: 'docs', assets: 'docs' })" },
    "docs",
    "npm run build",
  ],
])("a site whose pages are files is served without a fallback: %s", (_, manifest, files, dir, build) => {
  const analysis = analysisOf({ "package.json": manifest, "package-lock.json": "{}", ...files });
  expect(analysis.plan).toMatchObject({
    static: { dir, fallback: "404.html" },
    start: `node .slipway/static-server.mjs ${dir} 404.html`,
    port: 8080,
    build,
  });
  expect(analysis.suggestions.map(({ code }) => code)).not.toContain("development_start");
});

test.each<[string, object, Files, string]>([
  [
    "a server beside vite",
    { scripts: { start: "node server.js", build: "vite build" }, devDependencies: dev("vite") },
    { "index.html": "", "server.js": "" },
    "node server.js",
  ],
  [
    "an express entry beside vite",
    { scripts: { build: "vite build" }, dependencies: dev("express"), devDependencies: dev("vite") },
    { "index.html": "", "server.js": "" },
    "node server.js",
  ],
  [
    "serve",
    { scripts: { start: "serve -s build", build: "react-scripts build" }, dependencies: dev("react-scripts", "serve") },
    {},
    "serve -s build",
  ],
  ["vite of a library", { main: "index.js", devDependencies: dev("vite") }, { "index.js": "" }, "node index.js"],
  [
    "angular with server-side rendering",
    { scripts: { start: "node dist/shop/server/server.mjs", build: "ng build" }, devDependencies: dev("@angular/cli") },
    {
      "angular.json": {
        projects: { shop: { architect: { build: { builder: "@angular/build:application", options: { ssr: {} } } } } },
      },
    },
    "node dist/shop/server/server.mjs",
  ],
])("an app with a server is started: %s", (_, manifest, files, start) => {
  expect(planOf(manifest, files)).toMatchObject({ start, static: null });
});

test("a bare entry file needs neither install nor build", () => {
  expect(analysisOf({ "server.mjs": "" })).toMatchObject({
    suggestions: [],
    plan: { install: null, build: null, start: "node server.mjs" },
  });
});

test("a framework without a build script is built with its own command", () => {
  expect(planOf({ dependencies: dev("next") }).build).toBe("next build");
  expect(planOf({ dependencies: dev("next"), scripts: { build: "next build --turbo" } }).build).toBe("npm run build");
  expect(planOf({ scripts: { start: "node a.js", build: 7 } }, { "a.js": "" }).build).toBeNull();
});

test("without any of these there is no start command, and the sentence says what to add", () => {
  const { code, message } = errorOf({ "package.json": { name: "x" }, "README.md": "" });
  expect(code).toBe("no_start_command");
  expect(message).toContain('"scripts": {"start": "node server.js"}');
  expect(message).toContain("README.md");
});

test.each<[string, object, string | null]>([
  ["without a build script", { "heroku-postbuild": "npm run x" }, "npm run heroku-postbuild"],
  ["Google's", { "gcp-build": "tsc" }, "npm run gcp-build"],
  ["beside a build script", { build: "tsc", "heroku-postbuild": "npm run build" }, "npm run build"],
  [
    "that alone installs the packages that it builds with",
    { build: "cd web && npm run build", "heroku-postbuild": "npm install --prefix web && npm run build --prefix web" },
    "npm run heroku-postbuild",
  ],
  [
    "beside a build script that installs, too",
    { build: "cd web && npm i && npm run build", "heroku-postbuild": "npm ci && npm run build" },
    "npm run build",
  ],
])("a build script of another platform %s", (_, scripts, build) => {
  expect(planOf({ scripts: { start: "node server.js", ...scripts } }, { "server.js": "" }).build).toBe(build);
});

test.each<[string, string, boolean]>([
  ["react-scripts", "4.0.3", true],
  ["react-scripts", "^3.4.1 || 4", true],
  ["react-scripts", "5.0.1", false],
  ["react-scripts", "latest", false],
  ["webpack", "^4.46.0", true],
  ["webpack", ">=4", false],
  ["webpack", "5.0.0-beta.1", false],
  ["@vue/cli-service", "~4.5.0", true],
])("a build tool older than OpenSSL 3 gets its hashes: %s %s", (name, range, isOld) => {
  const manifest = { scripts: { start: "node a.js", build: "make" }, devDependencies: { [name]: range } };
  expect(planOf(manifest, { "a.js": "" }).buildEnv).toEqual(isOld ? { NODE_OPTIONS: "--openssl-legacy-provider" } : {});
});
