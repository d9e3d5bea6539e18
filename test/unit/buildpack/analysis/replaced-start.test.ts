import { expect, test } from "vitest";
import { analysisOf, errorOf } from "./tree.ts";

type Files = Record<string, string | object>;
const any = (...names: string[]) => Object.fromEntries(names.map((name) => [name, "*"]));

test.each<[string, object, string, string]>([
  [
    "pm2 start",
    { scripts: { start: "pm2 start server.js -i max --name web" }, dependencies: any("pm2") },
    "pm2-runtime start server.js -i max --name web",
    "daemon_start",
  ],
  [
    "pm2 start of an ecosystem",
    { scripts: { start: "NODE_ENV=production pm2 start ecosystem.config.js --no-daemon" }, dependencies: any("pm2") },
    "NODE_ENV=production pm2-runtime start ecosystem.config.js",
    "daemon_start",
  ],
  [
    "pm2 that is not declared",
    { scripts: { start: "pm2 start server.js --name web" } },
    "node server.js",
    "daemon_start",
  ],
  [
    "forever start",
    { scripts: { start: "npm run up && forever start -c node server.js", up: "true" }, dependencies: any("forever") },
    "npm run up && node server.js",
    "daemon_start",
  ],
  [
    "nest start",
    { scripts: { start: "nest start", build: "nest build" }, dependencies: any("@nestjs/core") },
    "node dist/main",
    "development_start",
  ],
  [
    "nest start --watch",
    { scripts: { start: "nest start --watch" }, dependencies: any("@nestjs/core") },
    "node dist/main",
    "development_start",
  ],
  [
    "nest start beside start:prod",
    {
      scripts: { start: "nest start", "start:prod": "node dist/src/main.js", build: "nest build" },
      dependencies: any("@nestjs/core"),
    },
    "node dist/src/main.js",
    "development_start",
  ],
])("%s is replaced by what stays, with a suggestion", (_, manifest, start, code) => {
  const { plan, suggestions } = analysisOf({ "package.json": manifest, "server.js": "", "src/main.ts": "" });
  expect(plan.start).toBe(start);
  expect(suggestions[0]).toMatchObject({ line: 3 });
  expect(suggestions[0]).toMatchObject({ code, file: "package.json", message: expect.stringContaining("is used") });
  expect(suggestions.filter((one) => one.code === code)).toHaveLength(1);
});

test("the suggestion on a command of a Procfile names its line there", () => {
  const files = { Procfile: "release: x\nweb: pm2 start server.js\n", "package.json": {}, "server.js": "" };
  expect(analysisOf(files).suggestions[0]).toMatchObject({ code: "daemon_start", file: "Procfile", line: 2 });
});

test.each(["pm2-runtime start server.js", "pm2 start ecosystem.config.js", "forever server.js"])(
  "%s stays as it is",
  (start) => {
    expect(analysisOf({ "package.json": { scripts: { start } } }).plan.start).toBe(start);
  },
);

test.each([
  "umi dev",
  "max dev",
  "sapper dev",
  "stencil build --dev --watch --serve",
  "brunch watch --server",
  "polymer serve",
  "nx serve api",
  "npx nx run api:serve",
  "docusaurus start",
  "vite",
  "hexo server",
  "turbo run dev",
  "gulp watch",
  "quasar dev",
  "preact watch",
  "vuepress dev docs",
  "gridsome develop",
  "ionic serve",
  "tsc --watch",
])("%s is a start for development", (start) => {
  expect(analysisOf({ "package.json": { scripts: { start } } }).suggestions.map(({ code }) => code)).toContain(
    "development_start",
  );
});

test.each<[string, object, Files, string]>([
  [
    "SvelteKit for Vercel",
    { devDependencies: any("@sveltejs/kit", "@sveltejs/adapter-vercel", "vite") },
    { "svelte.config.js": "import adapter from '@sveltejs/adapter-vercel'" },
    "use @sveltejs/adapter-node",
  ],
  [
    "TanStack Start without Nitro",
    { dependencies: any("@tanstack/react-start"), devDependencies: any("vite") },
    { "vite.config.ts": "plugins: [tanstackStart()]" },
    "add the package nitro",
  ],
  [
    "React Router without a server",
    { devDependencies: any("@react-router/dev", "vite") },
    {},
    "add the package @react-router/serve",
  ],
  [
    "Remix for Cloudflare",
    {
      dependencies: any("@remix-run/cloudflare"),
      devDependencies: any("@remix-run/dev", "vite"),
      scripts: { start: "wrangler pages dev ./build" },
    },
    {},
    "add the package @remix-run/serve",
  ],
  [
    "Astro for Cloudflare",
    { dependencies: any("astro", "@astrojs/cloudflare") },
    { "astro.config.mjs": "export default { adapter: cloudflare() }" },
    "use the adapter @astrojs/node",
  ],
])("a framework that is built for another platform is told what to use: %s", (_, manifest, files, use) => {
  const { code, message } = errorOf({ "package.json": manifest, ...files });
  expect([code, message]).toEqual(["no_start_command", expect.stringContaining(use)]);
});

test.each<[string, object, Files]>([
  [
    "in its dependencies",
    { dependencies: any("@tanstack/react-start", "nitro"), devDependencies: any("vite") },
    { "vite.config.ts": "plugins: [tanstackStart(), nitro()]" },
  ],
  [
    "in its configuration",
    { dependencies: any("@tanstack/react-start"), devDependencies: any("vite") },
    { "vite.config.ts": "import { nitro } from 'nitro/vite'" },
  ],
  ["as Vinxi", { dependencies: any("@tanstack/start", "vinxi") }, {}],
])("TanStack Start with Nitro %s runs its server", (_, manifest, files) => {
  expect(analysisOf({ "package.json": manifest, ...files }).plan.start).toBe("node .output/server/index.mjs");
});

test("SvelteKit's adapter-auto is started as a Node.js server, with the advice to name one", () => {
  const { plan, suggestions } = analysisOf({
    "package.json": { devDependencies: any("@sveltejs/kit", "@sveltejs/adapter-auto", "vite") },
    "svelte.config.js": "import adapter from '@sveltejs/adapter-auto'",
  });
  expect(plan).toMatchObject({ start: "node build", buildEnv: { GCP_BUILDPACKS: "true" } });
  expect(suggestions).toMatchObject([
    { code: "platform_adapter", message: expect.stringContaining("use @sveltejs/adapter-node") },
    { code: "no_lock_file" },
  ]);
});

test("an app that starts its other platform's build by itself is started", () => {
  const manifest = { scripts: { start: "node server.js" }, dependencies: any("express", "@react-router/dev") };
  expect(analysisOf({ "package.json": manifest, "server.js": "app.listen(1)" }).plan.start).toBe("node server.js");
});

test.each<[string, string, string[]]>([
  ["pm2  start server.js  --no-daemon", "pm2-runtime start server.js", ["pm2"]],
  ["npx pm2-x start server.js", "pm2-x start server.js", ["pm2-x"]],
  ["pm2 restart server.js", "pm2 restart server.js", ["pm2"]],
  ["pm2 restart server.js", "pm2 restart server.js", []],
  ["pm2 start start.cjs", "node start.cjs", []],
  ["pm2 start -i 2 server.mts", "node server.mts", []],
  ["pm2 start config/ecosystem.prod.js", "pm2 start config/ecosystem.prod.js", []],
  ["pm2 start $X/server.js", "pm2 start $X/server.js", []],
  ["pm2 start server.json", "pm2 start server.json", []],
  ["pm2 start my-ecosystem.x.js", "node my-ecosystem.x.js", []],
  ["forever start -c node start.js", "node start.js", []],
  ["forever stop start.js", "forever stop start.js", []],
  ["nest build", "nest build", ["@nestjs/core"]],
])("%s is started as %s", (start, expected, packages) => {
  const files = {
    "server.js": "",
    "start.cjs": "",
    "server.mts": "",
    "start.js": "",
    "src/main.ts": "",
    "my-ecosystem.x.js": "",
  };
  const manifest = { scripts: { start }, dependencies: any(...packages) };
  expect(analysisOf({ "package.json": manifest, ...files }).plan.start).toBe(expected);
});

test.each([
  ["node dist/src/main.js", "node dist/src/main.js"],
  ["node  dist/web", "node  dist/web"],
  ["node dist/main --x", "node dist/main"],
  ["NODE_ENV=x node dist/web", "node dist/main"],
  ["ts-node dist/web", "node dist/main"],
])("nest start beside start:prod %j is started as %s", (production, start) => {
  const manifest = { scripts: { start: "nest start", "start:prod": production }, dependencies: any("@nestjs/core") };
  expect(analysisOf({ "package.json": manifest, "src/main.ts": "" }).plan.start).toBe(start);
});
