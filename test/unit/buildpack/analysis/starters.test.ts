import { expect, test } from "vitest";
import { wants } from "../../../../buildpack/analysis/tree.ts";
import { analysisOf, errorOf } from "./tree.ts";

type Files = Record<string, string | object>;
const any = (...names: string[]) => Object.fromEntries(names.map((name) => [name, "*"]));

test.each<[string, object, Files, string]>([
  [
    "rsbuild",
    { scripts: { build: "rsbuild build" }, devDependencies: any("@rsbuild/core") },
    { "src/index.js": "" },
    "dist",
  ],
  [
    "rsbuild started for development",
    { scripts: { start: "rsbuild dev", build: "rsbuild build" }, devDependencies: any("@rsbuild/core") },
    { "rsbuild.config.ts": "export default { output: { distPath: { root: 'site' } } }" },
    "site",
  ],
  [
    "rspack",
    { scripts: { dev: "rspack dev", build: "rspack build" }, devDependencies: any("@rspack/cli", "@rspack/core") },
    { "src/index.ts": "", "rspack.config.ts": "plugins: [new rspack.HtmlRspackPlugin({ template: './index.html' })]" },
    "dist",
  ],
  ["farm", { scripts: { build: "farm build" }, devDependencies: any("@farmfe/core") }, { "index.html": "" }, "dist"],
  [
    "ember",
    { scripts: { start: "ember serve", build: "ember build" }, devDependencies: any("ember-cli", "webpack") },
    {},
    "dist",
  ],
  [
    "eleventy through npx",
    {
      scripts: { start: "npx @11ty/eleventy --serve", build: "npx @11ty/eleventy" },
      devDependencies: any("@11ty/eleventy"),
    },
    { "eleventy.config.js": "export default () => ({ dir: { output: 'public' } })" },
    "public",
  ],
  [
    "vitepress",
    { scripts: { build: "vitepress build docs" }, devDependencies: any("vitepress") },
    {},
    "docs/.vitepress/dist",
  ],
  ["slidev", { scripts: { build: "slidev build" }, dependencies: any("@slidev/cli") }, {}, "dist"],
  [
    "parcel",
    { source: "src/index.html", scripts: { build: "parcel build" }, devDependencies: any("parcel") },
    { "src/index.html": "", "src/index.js": "" },
    "dist",
  ],
  [
    "webpack with its page plugin",
    {
      scripts: { dev: "webpack serve", build: "webpack --mode production" },
      devDependencies: any("webpack", "webpack-dev-server", "html-webpack-plugin"),
    },
    { "src/index.js": "", "webpack.config.js": "output: { path: path.resolve(__dirname, 'public') }" },
    "public",
  ],
  [
    "react-router without server-side rendering, whatever its start script says",
    {
      scripts: { start: "react-router-serve ./build/server/index.js", build: "react-router build" },
      dependencies: any("@react-router/serve"),
      devDependencies: any("@react-router/dev", "vite"),
    },
    { "react-router.config.ts": "export default { ssr: false }" },
    "build/client",
  ],
])("the sources of a site are never run as a server: %s", (_, manifest, files, dir) => {
  expect(analysisOf({ "package.json": manifest, ...files }).plan).toMatchObject({
    static: { dir },
    build: "npm run build",
    port: 8080,
  });
});

test.each<[string, object, Files, string]>([
  [
    "parcel that is to be started for development",
    { source: "index.html", scripts: { start: "parcel", build: "parcel build" }, devDependencies: any("parcel") },
    { "index.html": "" },
    "parcel",
  ],
  [
    "a library built by parcel",
    {
      main: "dist/index.js",
      source: "src/index.js",
      scripts: { build: "parcel build" },
      devDependencies: any("parcel"),
    },
    { "src/index.js": "" },
    "node dist/index.js",
  ],
  [
    "a service whose documents are built by vitepress",
    { main: "server.js", scripts: { "docs:build": "vitepress build docs" }, devDependencies: any("vitepress") },
    { "server.js": "" },
    "node server.js",
  ],
  [
    "a package of another name than its command",
    { scripts: { start: "npx @scope/tool serve" }, dependencies: any("@scope/tool") },
    {},
    "npx @scope/tool serve",
  ],
])("%s is started as it says", (_, manifest, files, start) => {
  expect(analysisOf({ "package.json": manifest, ...files }).plan).toMatchObject({ static: null, start });
});

test("an app with a build but no start is told how a built site is served", () => {
  const { message } = errorOf({ "package.json": { scripts: { build: "rollup -c" } }, "rollup.config.js": "" });
  expect(message).toContain('"start": "serve dist"');
  expect(errorOf({ "package.json": {} }).message).not.toContain("serve dist");
});

test("a workspace without a start script names the members that have one", () => {
  const start = { scripts: { start: "node server.js" } };
  const members = { "apps/web/package.json": start, "packages/ui/package.json": {} };
  const workspace = { "package.json": { workspaces: ["apps/*", "packages/*"] } };
  expect(errorOf({ ...workspace, ...members })).toMatchObject({
    code: "no_start_command",
    message:
      'No start command was found for the Node.js app in the archive itself, but apps/web has a start script. Name the start command in the package.json above it: "scripts": {"start": "cd apps/web && npm start"}.',
  });
  expect(errorOf({ ...workspace, ...members, "apps/api/package.json": start }).message).toContain(
    'but apps/api and apps/web have start scripts. Name the start command in the package.json above it: "scripts": {"start": "cd apps/api && npm start"}.',
  );
  const phone = { "apps/api/package.json": { scripts: { start: "expo start" } } };
  expect(errorOf({ ...workspace, ...members, ...phone }).message).toContain("but apps/web has a start script");
  expect(errorOf({ "package.json": {}, ...members }).message).toContain(
    "apps/web has a start script. Upload that folder only, or name the start command",
  );
});

test("an archive that lies in a folder named like a build's output is read", () => {
  for (const path of [
    "build/package.json",
    "dist/server.js",
    "out/app.py",
    "dist/requirements.txt",
    "build/Procfile",
  ]) {
    expect(wants(path, 1000)).toBe(true);
  }
  for (const path of [
    "dist/assets/index.js",
    "build/static/js/package.json",
    "dist/vendor.js",
    "node_modules/app.py",
  ]) {
    expect(wants(path, 1000)).toBe(false);
  }
});

test.each<[string, Files, string]>([
  [
    "a Flask factory in the package's __init__.py",
    {
      "requirements.txt": "flask\n",
      "blog/__init__.py":
        "from flask import Flask\n\ndef create_app(config=None):\n    app = Flask(__name__)\n    return app\n",
    },
    "gunicorn --bind 0.0.0.0:$PORT 'blog:create_app()'",
  ],
  [
    "a FastAPI module in a package of its own name",
    {
      "requirements.txt": "fastapi\n",
      "shop/__init__.py": "",
      "shop/main.py": "from fastapi import FastAPI\napp = FastAPI()\n",
    },
    "uvicorn --host 0.0.0.0 --port $PORT shop.main:app",
  ],
  [
    "a FastAPI package in src",
    {
      "pyproject.toml": "[project]\nname = 'shop'\ndependencies = ['fastapi']\n",
      "src/shop/__init__.py": "",
      "src/shop/main.py": "from fastapi import FastAPI\nfrom shop.api import router\napp = FastAPI()\n",
    },
    "uvicorn --app-dir src --host 0.0.0.0 --port $PORT shop.main:app",
  ],
])("%s is found where it is the only one", (_, files, start) => {
  expect(analysisOf(files).plan.start).toBe(start);
  const [path = ""] = Object.keys(files).slice(-1);
  expect(errorOf({ ...files, [path.replace(/\w+(?=\/\w+\.py$)/, "other")]: files[path] ?? "" }).code).toBe(
    "no_start_command",
  );
});

test("fastify-cli is told to listen for others than its own machine", () => {
  const manifest = { scripts: { start: "fastify start app.js" }, dependencies: any("fastify", "fastify-cli") };
  expect(analysisOf({ "package.json": manifest }).plan.env).toMatchObject({ FASTIFY_ADDRESS: "0.0.0.0" });
  expect(analysisOf({ "server.js": "" }).plan.env).not.toHaveProperty("FASTIFY_ADDRESS");
});

test.each(["myenv/pyvenv.cfg", ".venv/Lib/site-packages/flask/app.py", "api/venv/lib/python3.12/site-packages/x.py"])(
  "a virtual environment in the archive is pointed at, whatever its name: %s",
  (path) => {
    expect(analysisOf({ "main.py": "", [path]: "" }).suggestions).toMatchObject([
      { code: "dependencies_in_archive", file: path },
    ]);
  },
);

test.each([
  "npm start --prefix server",
  "npm --prefix server start",
  "cd server && npm start",
  "yarn --cwd server start",
  "pnpm --filter api start",
  "npm run start -w api",
])("a start of another package is not taken for the root's: %s", (web) => {
  const manifest = { scripts: { start: "node root.js", prestart: "node up.js" } };
  expect(analysisOf({ Procfile: `web: ${web}`, "package.json": manifest }).plan).toMatchObject({
    start: web,
    prestart: null,
  });
});

test.each<[string, Files]>([
  ["cd server && node index.js", { "server/index.js": "app.listen(4321)", "index.js": "app.listen(1234)" }],
  [
    "cd ./server; node dist/main.js",
    { "package.json": { scripts: { build: "tsc" } }, "server/src/main.ts": "app.listen(4321)" },
  ],
  [
    "node server/dist/main.js",
    { "package.json": { scripts: { build: "tsc" } }, "server/src/main.ts": "app.listen(4321)" },
  ],
  ["cd backend && python app.py", { "backend/app.py": "app.run(port=4321)", "app.py": "app.run(port=1234)" }],
])("the port of %s is read where it runs", (web, files) => {
  expect(analysisOf({ Procfile: `web: ${web}`, ...files }).plan.port).toBe(4321);
});

test("a folder of requirements is installed from where there is no requirements.txt", () => {
  const { plan, suggestions } = analysisOf({
    "manage.py": 'import django\nos.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop.settings")\n',
    "shop/settings.py": "WSGI_APPLICATION = 'shop.wsgi.application'\n",
    "requirements/base.txt": "django\ngunicorn\n",
    "requirements/local.txt": "-r base.txt\npytest\n",
    "requirements/production.txt": "-r ../requirements/base.txt\n",
  });
  expect(plan).toMatchObject({ install: "pip install -r requirements/production.txt", addedPackages: [] });
  expect(plan.manifests).toContain("requirements/base.txt");
  expect(suggestions).toEqual([]);
});

test("the bind of gunicorn's configuration file is the port, unless the command line has one", () => {
  const files = {
    "requirements.txt": "flask\ngunicorn\n",
    "app.py": "",
    "gunicorn.conf.py": "workers = 2\nbind = '0.0.0.0:5000'\n",
  };
  const plan = (web: string, more: Files = {}) => analysisOf({ ...files, ...more, Procfile: `web: ${web}` });
  expect(plan("gunicorn app:app")).toMatchObject({
    plan: { port: 5000 },
    suggestions: [{ code: "fixed_port", file: "gunicorn.conf.py", line: 2 }],
  });
  expect(plan("gunicorn -c conf/web.py app:app", { "conf/web.py": "bind = ':7000'" }).plan.port).toBe(7000);
  expect(plan("gunicorn --bind 0.0.0.0:$PORT app:app").plan.port).toBe(8080);
  expect(plan("gunicorn app:app", { "gunicorn.conf.py": "bind = f\"0.0.0.0:{os.environ['PORT']}\"" }).plan.port).toBe(
    8080,
  );
});

test.each(["vinxi start", "solid-start start", "docusaurus serve", "vitepress preview", "waku start", "next start"])(
  "%s is no development server",
  (start) => {
    expect(analysisOf({ "package.json": { scripts: { start } } }).suggestions).toEqual([]);
  },
);

test("an application with two names is found under the first", () => {
  const files = {
    "requirements.txt": "flask\n",
    "application.py": "from flask import Flask\napplication = app = Flask(__name__)\n",
  };
  expect(analysisOf(files).plan.start).toBe("gunicorn --bind 0.0.0.0:$PORT application:application");
});
