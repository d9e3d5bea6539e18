import { describe, expect, test } from "vitest";
import { analysisOf, errorOf } from "./tree.ts";

type Files = Record<string, string | object>;
const any = (...names: string[]) => Object.fromEntries(names.map((name) => [name, "*"]));
const planOf = (manifest: object, files: Files = {}) => analysisOf({ "package.json": manifest, ...files }).plan;
const errorWith = (manifest: object, files: Files = {}) => errorOf({ "package.json": manifest, ...files }).message;

describe("a Node.js framework without a start script", () => {
  test("Nuxt 2 is started by its own command, also from nuxt-start; Nuxt 3 by its server's file", () => {
    expect(planOf({ dependencies: { nuxt: "^2.18.0" } }).start).toContain("nuxt start");
    expect(planOf({ dependencies: { nuxt: "*", "nuxt-start": "*" } }).start).toContain("nuxt start");
    expect(planOf({ dependencies: { nuxt: "^3.0.0" } }).start).toBe("node .output/server/index.mjs");
  });

  test("Nuxt that generates pages, or has the preset static, is served as files", () => {
    const generated = { scripts: { build: "nuxt generate" }, dependencies: any("nuxt") };
    expect(planOf(generated).static?.dir).toBe(".output/public");
    const config = { "nuxt.config.ts": "export default { nitro: { preset: 'static' } }" };
    expect(planOf({ dependencies: any("nuxt") }, config).static?.dir).toBe(".output/public");
  });

  test("NestJS is started as start:prod says, else from dist/main", () => {
    const nest = { dependencies: any("@nestjs/core") };
    const main = { "src/main.ts": "" };
    expect(planOf({ ...nest, scripts: { "start:prod": "node dist/apps/api/main" } }, main).start).toContain(
      "node dist/apps/api/main",
    );
    expect(planOf(nest, main).start).toBe("node dist/main");
  });

  test("SvelteKit's automatic adapter is told to build a server", () => {
    const kit = { devDependencies: any("@sveltejs/kit", "@sveltejs/adapter-auto") };
    const config = { "svelte.config.js": "import adapter from '@sveltejs/adapter-auto'" };
    expect(planOf(kit, config).buildEnv).toMatchObject({ GCP_BUILDPACKS: "true" });
  });

  test("React Router without a server is refused, unless the app has its own", () => {
    const router = { dependencies: any("react-router"), devDependencies: any("@react-router/dev") };
    expect(errorWith(router)).toContain("add the package @react-router/serve");
    expect(planOf(router, { "server.js": "require('http').createServer().listen(process.env.PORT)" }).start).toBe(
      "node server.js",
    );
  });
});

test("Bun serves a default export with fetch, but no function of another platform", () => {
  const lock = { "bun.lock": "{}" };
  const lambda = "export const handler = async () => ({ statusCode: 200 })";
  expect(errorWith({}, { ...lock, "index.ts": lambda })).toContain("it is an AWS Lambda function");
  const worker = "export default {\n  async fetch(request) { return new Response('hi') }\n}";
  expect(planOf({}, { ...lock, "index.ts": worker }).start).toContain("index.ts");
});

describe("a Python app", () => {
  const django = (application: string) => ({
    "requirements.txt": "django==5.2\n",
    "manage.py": "os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'site1.settings')\n",
    "site1/settings.py": "",
    [`site1/${application}.py`]: `from django.core.${application} import get_${application}_application\napplication = get_${application}_application()\n`,
  });

  test("of Django is served by the kind of server that its application needs", () => {
    const { plan } = analysisOf(django("asgi"));
    expect(plan.start).toContain("uvicorn");
    expect(plan.addedPackages).toEqual(["uvicorn"]);
    expect(analysisOf(django("wsgi")).plan.addedPackages).toEqual(["gunicorn"]);
  });

  test("starts what FastAPI's entrypoint names, if it is a module and a name", () => {
    const app = { "main.py": "from fastapi import FastAPI\napp = FastAPI()\n", "requirements.txt": "fastapi\n" };
    const startWith = (entrypoint: string) =>
      analysisOf({ ...app, "pyproject.toml": `[tool.fastapi]\nentrypoint = "${entrypoint}"\n` }).plan.start;
    expect(startWith("shop.web:api")).toBe("uvicorn --host 0.0.0.0 --port $PORT shop.web:api");
    for (const wrong of ["main", "main:app; rm -rf x", "$(id):app"]) expect(startWith(wrong)).toContain("main:app");
    expect(startWith("main:app; rm -rf x")).not.toContain("rm");
  });
});

/** The plan's start, or the sentence that says why there is none. */
const startWith = (manifest: object, files: Files = {}): string => {
  try {
    return planOf(manifest, files).start;
  } catch (error) {
    return String(error);
  }
};

describe("the configuration of a Node.js framework", () => {
  test.each<[string, string[], Files, object]>([
    ["Next.js", ["next"], {}, { start: "next start", build: "next build", static: null }],
    [
      "Next.js that exports",
      ["next"],
      { "next.config.mjs": "export default { output  :  'export' }" },
      { static: { dir: "out", fallback: "404.html" }, build: "next build" },
    ],
    [
      "Next.js that exports, with the default folder named",
      ["next"],
      { "next.config.mjs": "export default { output: 'export', distDir: '.next' }" },
      { static: { dir: "out", fallback: "404.html" } },
    ],
    ["Nuxt by its second name", ["nuxt3"], {}, { start: "node .output/server/index.mjs", build: "nuxt build" }],
    ["Nuxt by its nightly name", ["nuxt-nightly"], {}, { start: "node .output/server/index.mjs" }],
    [
      "Nuxt with static pages",
      ["nuxt"],
      { "nuxt.config.ts": "export default { nitro: { preset  :  'static' } }" },
      { static: { dir: ".output/public", fallback: "404.html" } },
    ],
    [
      "SvelteKit with another folder",
      ["@sveltejs/kit", "@sveltejs/adapter-node"],
      { "svelte.config.js": "import a from '@sveltejs/adapter-node'\nadapter: a({ out  :  'server' })" },
      { start: "node server", build: "vite build", static: null },
    ],
    [
      "SvelteKit that is configured in vite.config",
      ["@sveltejs/kit", "@sveltejs/adapter-node"],
      { "vite.config.js": "import a from '@sveltejs/adapter-node'\nsveltekit({ adapter: a({ out: 'server' }) })" },
      { start: "node server", build: "vite build" },
    ],
    ["SvelteKit without a configuration", ["@sveltejs/kit"], {}, { start: "node build", build: "vite build" }],
    [
      "SvelteKit with its automatic adapter",
      ["@sveltejs/kit", "@sveltejs/adapter-auto"],
      { "svelte.config.js": "import a from '@sveltejs/adapter-auto'" },
      { start: "node build", build: "vite build" },
    ],
    [
      "SvelteKit with static pages in the default folder",
      ["@sveltejs/kit", "@sveltejs/adapter-static"],
      { "svelte.config.js": "import a from '@sveltejs/adapter-static'\na({ fallback: 'app.html' })" },
      { static: { dir: "build", fallback: "app.html" } },
    ],
    [
      "SvelteKit with two adapters, one for Node.js",
      ["@sveltejs/kit", "@sveltejs/adapter-node"],
      { "svelte.config.js": "import v from '@sveltejs/adapter-vercel'\nimport n from '@sveltejs/adapter-node'" },
      { start: "node build" },
    ],
    [
      "SvelteKit with static pages",
      ["@sveltejs/kit", "@sveltejs/adapter-static"],
      {
        "svelte.config.js":
          "import a from '@sveltejs/adapter-static'\na({ pages: 'site', fallback  :  'app-200.html' })",
      },
      { static: { dir: "site", fallback: "app-200.html" }, build: "vite build" },
    ],
    ["NestJS by its script", ["@nestjs/core"], {}, { start: "node dist/web", build: "nest build" }],
    [
      "React Router without a server",
      ["@react-router/dev", "vite"],
      { "react-router.config.ts": "export default { ssr  :  false }" },
      { static: { dir: "build/client", fallback: "index.html" }, build: "react-router build" },
    ],
    [
      "React Router",
      ["@react-router/dev", "@react-router/serve"],
      {},
      { start: "react-router-serve ./build/server/index.js", build: "react-router build" },
    ],
    [
      "Remix with vite",
      ["@remix-run/serve"],
      { "vite.config.ts": "" },
      { start: "remix-serve ./build/server/index.js", build: "remix vite:build" },
    ],
    ["Remix by itself", ["@remix-run/serve"], {}, { start: "remix-serve build", build: "remix build" }],
    [
      "Astro",
      ["astro", "@astrojs/node"],
      { "astro.config.mjs": "adapter: node()" },
      { start: "node ./dist/server/entry.mjs", build: "astro build" },
    ],
    [
      "TanStack Start with nothing configured",
      ["@tanstack/solid-start"],
      {},
      { start: "node .output/server/index.mjs" },
    ],
    ["SolidStart", ["@solidjs/start"], {}, { start: "node .output/server/index.mjs", build: null }],
    ["Nitro", ["nitropack"], {}, { start: "node .output/server/index.mjs", build: null }],
    ["Nitro 3", ["nitro"], {}, { start: "node .output/server/index.mjs", build: null }],
  ])("%s", (name, packages, files, plan) => {
    const scripts = name === "NestJS by its script" ? { scripts: { "start:prod": "node dist/web" } } : {};
    expect(planOf({ ...scripts, dependencies: any(...packages) }, files)).toMatchObject(plan);
  });

  test.each(["^2.17.0", "~2.17.0", "2", "2.x"])("Nuxt %s is Nuxt 2", (nuxt) => {
    expect(planOf({ dependencies: { nuxt } })).toMatchObject({ start: "nuxt start", build: "nuxt build" });
  });

  test("Nuxt 3.2 is not Nuxt 2", () => {
    expect(startWith({ dependencies: { nuxt: "3.2" } })).toBe("node .output/server/index.mjs");
  });

  test("pages that Nuxt generates have a page for what is missing", () => {
    const manifest = { scripts: { build: "nuxt  generate" }, dependencies: any("nuxt") };
    expect(planOf(manifest).static).toEqual({ dir: ".output/public", fallback: "404.html" });
  });

  test.each(["nitro", "nitropack", "vinxi", "@tanstack/nitro-v2-vite-plugin"])(
    "TanStack Start with %s serves",
    (name) => {
      const files = { "vite.config.ts": "plugins: [tanstackStart()]" };
      for (const start of ["@tanstack/react-start", "@tanstack/solid-start", "@tanstack/start"])
        expect(startWith({ dependencies: any(start, name) }, files)).toBe("node .output/server/index.mjs");
    },
  );

  test.each(["nitro-cli", "my-vinxi", "express"])("TanStack Start with %s has no server", (name) => {
    const files = { "vite.config.ts": "plugins: [tanstackStart()]" };
    expect(startWith({ dependencies: any("@tanstack/start", name) }, files)).toContain("add the package nitro");
    const own = { "app.config.ts": "export default {}" };
    expect(startWith({ dependencies: any("@tanstack/start", name) }, own)).toContain("add the package nitro");
  });

  test("TanStack Start with Nitro in app.config serves", () => {
    const files = { "app.config.ts": "import 'vinxi'" };
    expect(startWith({ dependencies: any("@tanstack/start") }, files)).toBe("node .output/server/index.mjs");
  });

  test("an adapter of SvelteKit for another platform is named", () => {
    const files = { "svelte.config.js": "import adapter from '@sveltejs/adapter-vercel'" };
    expect(startWith({ devDependencies: any("@sveltejs/kit") }, files)).toContain(
      'another platform ("adapter-vercel")',
    );
    const uninstalled = { "svelte.config.js": "import adapter from '@sveltejs/adapter-static'" };
    expect(startWith({ devDependencies: any("@sveltejs/kit") }, uninstalled)).toContain("another platform");
  });

  test.each(["server.js", "app.mjs", "index.cts", "server/index.js"])("a server of an app's own is %s", (path) => {
    const text = "require('http').createServer().listen(process.env.PORT)";
    for (const name of ["@react-router/dev", "@remix-run/dev"])
      expect(startWith({ dependencies: any(name) }, { [path]: text })).not.toContain("built without a server");
  });

  test.each(["my-server.js", "server.json", "apps.js", "server.html"])("a server of an app's own is not %s", (path) => {
    for (const name of ["@react-router/dev", "@remix-run/dev"])
      expect(startWith({ dependencies: any(name) }, { [path]: "" })).toContain("built without a server");
  });

  test("an app without NestJS, or without its main file, is not started as NestJS", () => {
    const main = { "src/main.ts": "", "server.js": "" };
    expect(startWith({ scripts: { "start:prod": "node x.js" } }, main)).toBe("node server.js");
    expect(startWith({ dependencies: any("@nestjs/core") }, { "server.js": "" })).toBe("node server.js");
  });

  test("Astro's adapter alone is no app of Astro", () => {
    expect(startWith({ dependencies: any("@astrojs/node") }, { "server.js": "" })).toBe("node server.js");
  });

  test("a start script is taken before what a framework lacks, unless it emulates another platform", () => {
    const dependencies = any("@react-router/dev");
    expect(startWith({ scripts: { start: "node x.js" }, dependencies }, { "x.js": "app.listen(1)" })).toBe("node x.js");
    expect(startWith({ scripts: { start: "wrangler dev" }, dependencies })).toContain("built without a server");
  });

  test("Remix's packages for the browser alone are no app of Remix", () => {
    expect(startWith({ dependencies: any("@remix-run/react") }, { "server.js": "" })).toBe("node server.js");
  });
});

describe("where a start command is looked for", () => {
  test.each([
    ["./lib/run.js", { "lib/run.js": "" }],
    ["././lib/run.js", { "lib/run.js": "" }],
    ["/lib/run.js", { "lib/run.js": "" }],
    ["lib/run.js//", { "lib/run.js": "" }],
    ["lib/run", { "lib/run.cjs": "" }],
    ["lib/run", { "lib/run.mjs": "" }],
    ["lib/run", { "lib/run/index.js": "" }],
    ["lib/run.cts", { "lib/run.cts": "" }],
  ])("main %s is %j", (main, files) => {
    const [path = ""] = Object.keys(files);
    expect(startWith({ main }, { ...files, "server.js": "" })).toBe(`node ${path}`);
  });

  test.each<[string, Files, object?]>([
    ["lib/run.css", { "lib/run.css": "" }],
    ["../run.js", { "run.js": "" }],
    ["lib/../../run.js", { "run.js": "" }],
    ["lib/run js", { "lib/run js.js": "" }],
    ["$x", { "$x.js": "" }],
    ["x$", { "x$.js": "" }],
    ["run.jsx", { "run.jsx": "" }],
    ["dist/run.js", {}],
    ["dist/../../run.js", {}, { build: "tsc" }],
    ["lib/run.js.txt", { "lib/run.js.txt": "" }],
  ])("main %s is not used", (main, files, scripts = {}) => {
    expect(startWith({ main, scripts }, { ...files, "server.js": "" })).toBe("node server.js");
  });

  test.each(["dist", "build", "lib", "out", "output", ".output"])("main in %s is made by a build", (folder) => {
    const main = `${folder}/run.js`;
    expect(startWith({ main, scripts: { build: "tsc" } }, { "server.js": "" })).toBe(`node ${main}`);
    const deeper = `web/${folder}/run.js`;
    expect(startWith({ main: deeper, scripts: { build: "tsc" } }, { "server.js": "" })).toBe("node server.js");
  });

  test("main.js is an entry file", () => {
    expect(startWith({}, { "main.js": "", "index.js": "" })).toBe("node main.js");
  });

  test("the file of a command that only emulates another platform is named", () => {
    expect(startWith({}, { Procfile: "web: wrangler dev" })).toContain(
      "The start command in Procfile runs a Cloudflare",
    );
    const manifest = { scripts: { start: "wrangler dev" } };
    expect(startWith(manifest)).toContain("The start command in package.json runs a Cloudflare");
  });

  test.each(["mjs", "cjs", "mts", "cts", "tsx", "jsx", "ts"])("an entry file may end in .%s", (ending) => {
    const start = startWith(
      { type: "module", devDependencies: any("tsx") },
      { [`src/server.${ending}`]: "a.listen()" },
    );
    expect(start).toMatch(new RegExp(`^(node|tsx) src/server\\.${ending}$`));
  });

  test.each([
    "next start",
    "nuxt start",
    "npx  next start",
    "npx nuxt start",
    "react-router-serve x",
    "react-router dev",
  ])("the script %s cannot start what is exported as files", (start) => {
    const files = { "next.config.js": "module.exports = { output: 'export' }" };
    expect(startWith({ scripts: { start }, dependencies: any("next") }, files)).toContain("static-server");
  });

  test.each(["my-next start", "nextra start", "node x.js", "x-npx next start"])(
    "the script %s starts it itself",
    (start) => {
      const files = { "next.config.js": "module.exports = { output: 'export' }", "x.js": "" };
      expect(startWith({ scripts: { start }, dependencies: any("next") }, files)).toBe(start);
    },
  );

  test("a missing start names the place, the members that start, and the files", () => {
    const messageOf = (files: Files) => errorOf({ "README.md": "", ...files }).message;
    expect(startWith({}, { "a.md": "" })).toContain("the Node.js app in the archive: no Procfile");
    expect(startWith({}, { "a.md": "" })).toContain("to package.json. Files seen: a.md");
    expect(messageOf({ "web/package.json": {} })).toContain("the Node.js app in web: no Procfile");
    const worker = { "wrangler.toml": 'main = "x.ts"' };
    expect(startWith({}, worker)).toContain("The app in the archive is a Cloudflare Worker according to its Wrangler");
    const nested = { "web/package.json": {}, "web/wrangler.toml": 'main = "x.ts"' };
    expect(messageOf(nested)).toContain("The app in web is a Cloudflare Worker according to its Wrangler");
  });

  const member = { scripts: { start: "node x.js" } };
  test.each<[string, object, Files, string]>([
    ["one", {}, { "api/package.json": member }, "but api has a start script. Upload that folder only, or name the"],
    [
      "two",
      {},
      { "api/package.json": member, "web/package.json": member },
      "but api and web have start scripts. Upload one of these folders only, or name the",
    ],
    [
      "a workspace's",
      { workspaces: ["api"] },
      { "api/package.json": member },
      "api has a start script. Name the start",
    ],
    ["no phone's", {}, { "app/package.json": { scripts: { start: "expo start" } } }, "no Procfile with a web: line"],
    ["no other file's", {}, { "api/my-package.json": member, "x/node_modules/y/package.json": member }, "no Procfile"],
  ])("the start scripts of members are named: %s", (_, manifest, files, sentence) => {
    expect(startWith(manifest, files)).toContain(sentence);
  });
});
