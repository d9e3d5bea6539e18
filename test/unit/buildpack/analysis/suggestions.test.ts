import { expect, test } from "vitest";
import { suggestionText } from "../../../../buildpack/analysis/report.ts";
import { analysisOf } from "./tree.ts";

type Files = Record<string, string | object>;
const app = { "package.json": { scripts: { start: "node server.js" } }, "server.js": "" };
const codes = (files: Files) => analysisOf(files).suggestions.map(({ code }) => code);

test.each([
  "next dev",
  "next dev -p $PORT",
  "nuxt dev",
  "nuxi dev",
  "vite",
  "vite dev --host",
  "astro dev",
  "ng serve",
  "react-scripts start",
  "webpack serve --mode development",
  "webpack-dev-server",
  "parcel index.html",
  "nodemon server.js",
  "nodemon",
  "ts-node-dev src/index.ts",
  "tsx watch src/index.ts",
  "node --watch server.js",
  "nest start --watch",
  "remix dev",
  "NODE_ENV=development nodemon -r dotenv/config server.js",
  "./node_modules/.bin/nodemon server.js",
  'concurrently "nodemon server.js" "next dev"',
])("a start script that only develops is pointed at: %s", (start) => {
  const text = `{\n  "scripts": {\n    "build": "x",\n    "start": ${JSON.stringify(start)}\n  }\n}`;
  expect(analysisOf({ "package.json": text }).suggestions).toMatchObject([
    { code: "development_start", file: "package.json", line: 4 },
  ]);
});

test("a start script that leads to a development server is pointed at itself", () => {
  const text = '{\n  "scripts": {\n    "dev": "next dev",\n    "start": "npm run dev"\n  }\n}';
  expect(analysisOf({ "package.json": text })).toMatchObject({
    plan: { start: "next dev" },
    suggestions: [{ code: "development_start", file: "package.json", line: 4 }],
  });
});

test.each([
  "next start",
  "vite preview",
  "node server.js",
  "tsx src/index.ts",
  "remix-serve build",
  "node dist/dev-server.js",
  "serve -s build",
  "strapi start",
  "node vite.js",
])("a start script for production is not: %s", (start) => {
  expect(codes({ "package.json": { scripts: { start, build: "x" } } })).toEqual([]);
});

test.each([
  "flask run",
  "flask --app shop run",
  "python manage.py runserver 0.0.0.0:$PORT",
  "uvicorn main:app --reload",
  "fastapi dev main.py",
])("so is a Procfile: %s", (command) => {
  expect(analysisOf({ Procfile: `# x\nweb: ${command}\n`, "main.py": "", "manage.py": "" }).suggestions).toMatchObject([
    { code: "development_start", file: "Procfile", line: 2 },
  ]);
});

test("app.run(debug=True) is pointed at where the start command runs it, and only there", () => {
  const source =
    "from flask import Flask\napp = Flask(__name__)\nif __name__ == '__main__':\n    app.run(port=8080,\n            debug=True)\n";
  const requirements = { "requirements.txt": "flask\ngunicorn\n" };
  expect(analysisOf({ "app.py": source, Procfile: "web: python app.py", ...requirements }).suggestions).toMatchObject([
    { code: "development_start", file: "app.py", line: 5 },
  ]);
  expect(codes({ "app.py": source, ...requirements })).toEqual([]);
});

test.each([
  ["src/api.js", "const x = 1;\nfetch('http://localhost:4000/users');"],
  ["src/api.ts", "\nexport const API_URL = 'http://localhost:5000/api';"],
  ["src/client.ts", "const client = axios.create({\n  baseURL: `http://127.0.0.1:8000`,\n});"],
  ["src/App.vue", '<script>\nfetch("http://localhost:3000/a")</script>'],
  ["src/a.jsx", '\n<a href="http://localhost:3000/login">in</a>'],
  ["client.py", "import requests\nrequests.get('http://localhost:8000/x')"],
  ["public/script.js", "const id = 7;\nfetch(`http://localhost:3000/article/${id}`)"],
  ["src/store.ts", "export class Hero {\n  private url = 'http://localhost:8080/api/v1';\n}"],
  [
    "src/Login.jsx",
    'try { await axios.post(\n"http://localhost:5000/api/auth", { name }) } catch (error) { setError(error) }',
  ],
  ["serializers.py", 'def logo(self, item):\n    return f"http://127.0.0.1:8000/{item.logo.url}"'],
  [
    "src/io.ts",
    "const host = 'x';\nconst socket = new EventSource(\"http://localhost:8080/sse\", { withCredentials: true });",
  ],
  ["src/environments/environment.ts", "  production: true,\n  apiUrl: 'http://localhost:3000',"],
  ["app/links.py", "if item.logo:\n    return 'http://localhost:8000/' + item.logo"],
  ["src/services/api.config.js", "export const api = {\n  url: 'http://localhost:4000/api' };"],
  ["app/page.tsx", "// load\nconst r = await fetch(\"http://localhost:3000/api\", { cache: 'no-store' });"],
])("a hard-coded address of this machine in source that runs is pointed at: %s", (path, source) => {
  expect(analysisOf({ ...app, [path]: source }).suggestions).toMatchObject([
    { code: "hardcoded_url", file: path, line: 2 },
  ]);
});

test.each([
  ["src/api.js", "// fetch('http://localhost:4000')"],
  ["src/api.js", "/*\n * see http://localhost:4000\n */"],
  ["src/api.js", "const url = process.env.API_URL || 'http://localhost:4000'"],
  ["src/api.js", "const url = process.env.API_URL ?? 'http://localhost:4000'"],
  ["src/api.js", "const url = process.env.API_URL\n  ? process.env.API_URL\n  : 'http://localhost:4000'"],
  ["src/api.js", "const url = isDev ? 'http://localhost:4000' : 'https://api.acme.io'"],
  ["src/server.js", "app.listen(p, () => console.log(`Server on http://localhost:${p}`))"],
  ["src/server.js", "console.log(\n  'up at http://localhost:3000'\n)"],
  ["src/server.js", "logger.info(`Listening on http://localhost:${port}`)"],
  ["src/server.js", "app.use(cors({ origin: ['http://localhost:3000', 'https://acme.io'] }))"],
  ["src/server.js", "const allowedOrigins = [\n  'http://localhost:3000',\n]"],
  ["src/server.js", "const { pathname } = new URL(req.url, 'http://localhost')"],
  ["src/server.js", "if (origin === 'http://localhost:3000') next()"],
  ["src/api.test.js", "fetch('http://localhost:4000')"],
  ["tests/api.js", "fetch('http://localhost:4000')"],
  ["e2e/api.ts", "fetch('http://localhost:4000')"],
  ["docs/api.js", "fetch('http://localhost:4000')"],
  ["vite.config.ts", "export default { server: { proxy: { '/api': 'http://localhost:4000' } } }"],
  ["dist/app.js", "fetch('http://localhost:4000')"],
  ["public/app.min.js", "fetch('http://localhost:4000')"],
  ["README.md", "fetch('http://localhost:4000')"],
  [
    "settings.py",
    "CORS_ALLOWED_ORIGINS = [\n    'http://localhost:3000',\n]\nURL = os.environ.get('URL', 'http://localhost:8000')\nprint('http://localhost:8000')",
  ],
  ["settings.py", '"""\nhttp://localhost:8000\n"""\nx = os.getenv("API") or "http://localhost:8000"'],
  ["src/a.js", "fetch('http://localhost.acme.io/')"],
  ["src/a.js", "fetch(`http://localhost:${port}/self`)"],
  ["src/a.js", "const self = 'http://localhost:' + PORT"],
  ["src/a.js", "res.header('Access-Control-Allow-Origin', 'http://localhost:3000')"],
  ["src/a.js", "const config = {\n  development: {\n    url: 'http://localhost:3000',\n  },\n}"],
  ["src/a.js", "if (process.env.NODE_ENV !== 'production') {\n  url = 'http://localhost:3000'\n}"],
  [
    "src/a.ts",
    "if (process.env.VERCEL_URL) return `https://${process.env.VERCEL_URL}`;\nreturn 'http://localhost:3000';",
  ],
  ["src/a.ts", "const env = z.object({ URL: z.string().default('http://localhost:3000') })"],
  [
    "app/config.py",
    "class Settings(BaseSettings):\n    api_url: str = 'http://localhost:8000'\n    cors_origins: list[str] = [\n        'http://localhost:3000',\n    ]",
  ],
  ["app/client.py", "def __init__(self, base_url: str = 'http://localhost:8000'):\n    pass"],
  [
    "app/main.py",
    "app.add_middleware(\n    CORSMiddleware,\n    allow_origins=[\n        'http://localhost:3000', 'https://acme.io',\n    ],\n)",
  ],
  ["test_api.py", "requests.get('http://localhost:8000')"],
  ["src/api.js", "let base = 'http://localhost:3000'\nif (process.env.BASE_URL) base = process.env.BASE_URL"],
  ["src/api.js", "const { API_URL = 'http://localhost:3000' } = process.env"],
  ["src/docs.ts", "new DocumentBuilder().addServer('http://localhost:3000', 'local').build()"],
  ["open.py", "import webbrowser\nwebbrowser.open('http://localhost:5000')"],
  ["src/environments/environment.ts", "export const environment = {\n  apiUrl: 'http://localhost:3000' }"],
  ["test.js", "fetch('http://localhost:5006')"],
  ["packages/web/vite.config.ts", "export default { target: 'http://localhost:4000' }"],
  ["dist-es/client.js", "fetch('http://localhost:4000')"],
  ["src/test-utils/server.ts", "fetch('http://localhost:4000')"],
  ["locustfile.py", "host = 'http://localhost:8000'"],
  ["lighthouserc.js", "module.exports = { ci: { collect: { url: ['http://localhost:3000'] } } }"],
  ["healthcheck.js", "require('node:http').get('http://localhost:3000/health')"],
  ["codegen.ts", "const config = { schema: 'http://localhost:4000/graphql' }"],
  [".graphqlrc.ts", "export default { schema: 'http://localhost:4000/graphql' }"],
  ["src/db.js", "connect({\n  ...(process.env.OFFLINE && { endpoint: 'http://localhost:8000' }),\n})"],
  ["proxy.conf.js", "module.exports = { '/api': { target: 'http://localhost:4000' } }"],
  [
    "src/a.js",
    "switch (process.env.NODE_ENV) {\n  case 'production':\n    break\n  default:\n    url = 'http://localhost:3000'\n}",
  ],
  [
    "app/links.py",
    "if settings.DEBUG:\n    # here\n    BASE = 'http://localhost:8000'\nelse:\n    BASE = 'https://acme.io'",
  ],
  ["app/links.py", "BASE = 'http://localhost:8000/' if DEBUG else 'https://acme.io'"],
  ["core/built/admin/chunk.js", "fetch('http://localhost:4000')"],
  [
    "src/links.js",
    "const links = [\n  ...(process.env.NODE_ENV === 'development'\n    ? [\n        {\n          name: 'mail',\n          open: () => 'http://localhost:8025',\n        },\n      ]\n    : []),\n]",
  ],
  [
    "src/admin.js",
    "if (config.get('env') === 'development') {\n  app.get('/reload.js', function reload(req, res) {\n    res.redirect(`http://localhost:4200${path}/reload.js`);\n  });\n}",
  ],
])("where it does no harm it is not: %s %j", (path, source) => {
  expect(codes({ ...app, [path]: source })).toEqual([]);
});

test.each([
  "requirement.txt",
  "requirments.txt",
  "Requirements.txt",
  "requirements.txt.txt",
  "requirements.text",
  "reqirements.txt",
  ".python_version",
  "python-version",
  ".pythonversion",
  ".python-versions",
])("a misspelled %s is pointed at", (name) => {
  expect(analysisOf({ "main.py": "", [name]: "3.12" }).suggestions).toMatchObject([
    { code: "misspelt_file", file: name },
  ]);
});

test.each(["requirements-dev.txt", "requirements.in", "recipients.txt", "version.txt"])(
  "another file such as %s is not",
  (name) => {
    expect(codes({ "main.py": "", [name]: "" })).toEqual([]);
  },
);

test.each([
  "node_modules/a/index.js",
  ".venv/pyvenv.cfg",
  "venv/lib/python3.12/site-packages/a.py",
  "client/node_modules/a/package.json",
])("installed packages in the archive are pointed at: %s", (path) => {
  expect(analysisOf({ ...app, [path]: "" }).suggestions).toMatchObject([
    { code: "dependencies_in_archive", file: path },
  ]);
});

test("at most six are shown, each kind once before any twice, joined by newlines with file and line", () => {
  const sources = Object.fromEntries(
    Array.from({ length: 9 }, (_, index) => [`src/${index}.js`, "fetch('http://localhost:1234')"]),
  );
  const { suggestions } = analysisOf({
    "package.json": { scripts: { start: "nodemon server.js" }, dependencies: { a: "1" }, engines: { node: "26" } },
    "server.js": "app.listen(3000)",
    ".nvmrc": "22",
    ...sources,
  });
  expect(suggestions.map(({ code }) => code)).toEqual([
    "development_start",
    "fixed_port",
    "hardcoded_url",
    "hardcoded_url",
    "no_lock_file",
    "version_conflict",
  ]);
  const text = suggestionText(suggestions) ?? "";
  expect(text.split("\n")).toHaveLength(6);
  expect(text).toContain("server.js:1: The app listens on the fixed port 3000");
  expect(suggestionText([])).toBeNull();
});

test.each<[string, Record<string, string>, string | undefined]>([
  ["a Worker", { "wrangler.jsonc": '{\n  "main": "api/index.ts"\n}' }, "wrangler.jsonc"],
  ["Cloudflare's functions", { "wrangler.toml": "name = 'a'\n", "functions/hello.ts": "" }, "functions/hello.ts"],
  ["Netlify's functions", { "netlify/functions/hello.mjs": "" }, "netlify/functions/hello.mjs"],
  ["Vercel's functions", { "vercel.json": "{}", "api/hello.js": "" }, "api/hello.js"],
  ["a folder of that name without the platform", { "api/hello.js": "", "functions/a.js": "" }, undefined],
  ["the platform's configuration alone", { "vercel.json": "{}", "src/api/a.js": "", "api/README.md": "" }, undefined],
])("a site with functions that are not run says so: %s", (_, files, file) => {
  const manifest = { scripts: { build: "vite build" }, devDependencies: { vite: "7" } };
  const { plan, suggestions } = analysisOf({ "package.json": manifest, "index.html": "", ...files });
  expect(plan.static).not.toBeNull();
  expect(suggestions.find(({ code }) => code === "functions_not_run")?.file).toBe(file);
});

test("the browser of a test tool is not downloaded", () => {
  const manifest = { scripts: { start: "node a.js" }, devDependencies: { cypress: "13" } };
  const { plan } = analysisOf({ "package.json": manifest, "a.js": "" });
  expect(plan.buildEnv).toEqual({ CYPRESS_INSTALL_BINARY: "0" });
});
