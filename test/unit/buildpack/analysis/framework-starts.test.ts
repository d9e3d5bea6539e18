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
