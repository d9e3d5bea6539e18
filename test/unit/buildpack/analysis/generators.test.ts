import { expect, test } from "vitest";
import { isForDetection, wants } from "../../../../buildpack/analysis/tree.ts";
import { analysisOf, errorOf } from "./tree.ts";

type Files = Record<string, string | object>;
const any = (...names: string[]) => Object.fromEntries(names.map((name) => [name, "*"]));

/** What is built, with which scripts; the folder that is served; the script that builds it, null for the tool's own command; the page for other addresses. */
test.each<[string, Record<string, string>, Files, string, string, string]>([
  [
    "vitepress",
    { "docs:dev": "vitepress dev docs", "docs:build": "vitepress build docs" },
    {},
    "docs/.vitepress/dist",
    "npm run docs:build",
    "404.html",
  ],
  [
    "vitepress",
    { build: "vitepress build" },
    { ".vitepress/config.mts": "export default { outDir: './site' }" },
    "site",
    "npm run build",
    "404.html",
  ],
  [
    "vitepress",
    { build: "vitepress build docs" },
    { "docs/.vitepress/config.ts": "export default { outDir: '../public' }" },
    "public",
    "npm run build",
    "404.html",
  ],
  [
    "vuepress",
    { "docs:build": "vuepress build docs", start: "vuepress dev docs" },
    {},
    "docs/.vuepress/dist",
    "npm run docs:build",
    "404.html",
  ],
  ["vuepress", { build: "vuepress build src -d out" }, {}, "out", "npm run build", "404.html"],
  [
    "hexo",
    { build: "hexo generate", server: "hexo server", clean: "hexo clean" },
    { "_config.yml": "title: x\n" },
    "public",
    "npm run build",
    "404.html",
  ],
  [
    "hexo",
    { build: "hexo g", start: "hexo server" },
    { "_config.yml": "public_dir: site\n" },
    "site",
    "npm run build",
    "404.html",
  ],
  [
    "@docusaurus/core",
    { start: "docusaurus start", build: "docusaurus build", serve: "docusaurus serve" },
    {},
    "build",
    "npm run build",
    "404.html",
  ],
  ["@docusaurus/core", { site: "docusaurus build --out-dir site" }, {}, "site", "npm run site", "404.html"],
  [
    "gatsby",
    { develop: "gatsby develop", build: "gatsby build", start: "gatsby develop" },
    {},
    "public",
    "npm run build",
    "404.html",
  ],
  [
    "@11ty/eleventy",
    { start: "npx @11ty/eleventy --serve", build: "npx @11ty/eleventy" },
    {},
    "_site",
    "npm run build",
    "404.html",
  ],
  [
    "@11ty/eleventy",
    { "build:site": "eleventy --output=www", dev: "eleventy --serve" },
    {},
    "www",
    "npm run build:site",
    "404.html",
  ],
  ["rspress", { build: "rspress build" }, {}, "doc_build", "npm run build", "404.html"],
  [
    "hugo-extended",
    { start: "hugo server", build: "hugo --minify" },
    { "hugo.toml": "" },
    "public",
    "npm run build",
    "404.html",
  ],
  [
    "preact-cli",
    { build: "preact build", dev: "preact watch", serve: "sirv build --single" },
    { "src/index.js": "" },
    "build",
    "npm run build",
    "index.html",
  ],
  ["umi", { start: "umi dev", build: "umi build" }, {}, "dist", "npm run build", "index.html"],
  ["umi", { start: "umi dev" }, {}, "dist", "umi build", "index.html"],
  [
    "@stencil/core",
    { start: "stencil build --dev --watch --serve", build: "stencil build" },
    {},
    "www",
    "npm run build",
    "index.html",
  ],
  [
    "brunch",
    { start: "brunch watch --server", build: "brunch build --production" },
    {},
    "public",
    "npm run build",
    "index.html",
  ],
  [
    "polymer-cli",
    { start: "polymer serve", build: "polymer build" },
    { "polymer.json": '{"builds": [{"preset": "es6-bundled"}]}' },
    "build/es6-bundled",
    "npm run build",
    "index.html",
  ],
  ["@quasar/app-vite", { dev: "quasar dev", build: "quasar build" }, {}, "dist/spa", "npm run build", "index.html"],
])("a site made by %s with %j is served as files", (name, scripts, files, dir, build, fallback) => {
  const { plan, suggestions } = analysisOf({ "package.json": { scripts, devDependencies: any(name) }, ...files });
  expect(plan).toMatchObject({ static: { dir, fallback }, build, port: 8080 });
  expect(suggestions.map(({ code }) => code)).toEqual(["no_lock_file"]);
});

test.each<[string, object, Files, string]>([
  [
    "a package with documents beside it",
    { main: "index.js", scripts: { "docs:build": "vitepress build docs" }, devDependencies: any("vitepress") },
    { "index.js": "" },
    "node index.js",
  ],
  [
    "a library whose build is another",
    { main: "dist/a.js", scripts: { build: "tsc", "docs:build": "vuepress build" }, devDependencies: any("vuepress") },
    {},
    "node dist/a.js",
  ],
  [
    "a server that shows a site",
    { scripts: { start: "node web.js", build: "gatsby build" }, dependencies: any("gatsby", "express") },
    { "web.js": "" },
    "node web.js",
  ],
])("%s is started, not served", (_, manifest, files, start) => {
  expect(analysisOf({ "package.json": manifest, ...files }).plan).toMatchObject({ static: null, start });
});

test("vite with Cloudflare's plugin writes the browser's files into dist/client", () => {
  const files = {
    "package.json": { scripts: { build: "vite build" }, devDependencies: any("vite", "@cloudflare/vite-plugin") },
    "index.html": "",
  };
  expect(
    analysisOf({ ...files, "vite.config.ts": "export default { plugins: [react(), cloudflare()] }" }).plan.static?.dir,
  ).toBe("dist/client");
  expect(analysisOf({ ...files, "vite.config.ts": "export default { plugins: [react()] }" }).plan.static?.dir).toBe(
    "dist",
  );
});

test.each<[string, Files, string]>([
  ["Hugo", { "config.toml": "baseURL = 'x'", "content/posts/a.md": "" }, "config.toml"],
  ["Hugo", { "hugo.yaml": "", "layouts/index.html": "" }, "hugo.yaml"],
  ["Hugo", { "blog/hugo.toml": "", "blog/content/a.md": "", "README.md": "" }, "blog/hugo.toml"],
  [
    "Hugo",
    { "config/_default/hugo.toml": "", "content/a.md": "", "package.json": { devDependencies: any("postcss") } },
    "config/_default/hugo.toml",
  ],
  [
    "Zola",
    { "config.toml": "base_url = 'https://example.com'\n", "content/_index.md": "", "templates/index.html": "" },
    "config.toml",
  ],
  ["Jekyll", { "_config.yml": "title: x\n", "_posts/2020-01-01-a.md": "", "index.html": "" }, "_config.yml"],
  ["Jekyll", { "_config.yml": "theme: minima\n", "index.md": "" }, "_config.yml"],
])("a %s site is said to be one", (name, files, file) => {
  const { code, message } = errorOf(files);
  expect([code, message]).toEqual(["unsupported_language", expect.stringContaining(`${file} declares a ${name} site`)]);
  expect(message).toContain("upload the folder that it writes");
});

test.each<[string, Files]>([
  ["a configuration alone", { "config.toml": "", "notes.md": "" }],
  ["content without a configuration", { "content/a.md": "" }],
])("%s is no site", (_, files) => {
  expect(errorOf(files).code).toBe("nothing_detected");
});

test.each([
  "_config.yml",
  "config.toml",
  "blog/config.toml",
  "polymer.json",
  "docs/.vitepress/config.mts",
  "tsconfig.build.json",
])("%s is read from an archive", (path) => {
  expect([wants(path, 1000), isForDetection(path)]).toEqual([true, true]);
});
