import { expect, test } from "vitest";
import { analysisOf } from "./tree.ts";

const node = (source: string, files: Record<string, string> = {}) => analysisOf({ "server.js": source, ...files });
const python = (source: string) => analysisOf({ "main.py": source, "requirements.txt": "flask\nuvicorn\n" });

test.each([
  "app.listen(3000)",
  "app.listen(3000, () => console.log('up'))",
  "const PORT = 3000;\napp.listen(PORT)",
  "const port = 3000\nserver.listen(port, '0.0.0.0')",
  "app.listen({ port: 3000, host: '0.0.0.0' })",
  "serve({ fetch: app.fetch, port: 3000 })",
  "Bun.serve({ port: 3000, fetch })",
  "const port = process.env.APP_PORT || 3000\napp.listen(port)",
  "// process.env.PORT\napp.listen(3000)",
  "const { config } = require('./config')\napp.listen(config.port)",
  "const server = Hapi.server({\n  port: 3000,\n  host: '0.0.0.0',\n})",
  "await startStandaloneServer(server, { listen: { port: 3000 } })",
  "new WebSocketServer({ port: 3000 })",
  "ViteExpress.listen(app, 3000, () => {})",
  "app.set('port', 3000)\napp.listen(app.get('port'))",
  "app.listen('3000')",
  "const port = process.argv[2] || 3000\napp.listen(port)",
  "const port = normalizePort(process.env.WEB_PORT || '3000')\nserver.listen(port)",
  "const config = { db: { port: 5432 }, http: { port: 3000 } }\napp.listen(config.http.port)",
])("a fixed number is the container's port, with a suggestion: %j", (source) => {
  const { plan, suggestions } = node(source, { "config.js": "exports.config = { port: 3000 }" });
  expect(plan.port).toBe(3000);
  expect(plan.env).toMatchObject({ PORT: "3000", HOST: "0.0.0.0", HOSTNAME: "0.0.0.0" });
  expect(suggestions).toMatchObject([{ code: "fixed_port" }]);
});

test.each([
  "app.listen(process.env.PORT || 3000)",
  "const port = process.env.PORT ?? 3000\napp.listen(port)",
  "const { PORT = 3000 } = process.env\napp.listen(PORT)",
  "const { env: { PORT = 3000 } } = process\napp.listen(PORT)",
  "const port = parseInt(process.env['PORT'], 10) || 3000; app.listen(port)",
  "const env = z.object({ PORT: z.coerce.number().default(3000) }).parse(process.env); app.listen(env.PORT)",
  "app.listen(configService.get('PORT', 3000))",
  "const port = requireEnv('PORT')\nconst fallback = { port: 3000 }\napp.listen(port)",
  "app.listen(0)",
  "const settings = load(); app.listen(settings.port || 3000)",
  "const port = await getPort(); app.listen(port)",
  "require('./config'); app.listen(3000)",
  "app.listen(8080)",
])("an app that reads PORT listens on 8080: %j", (source) => {
  const { plan, suggestions } = node(source, { "config.js": "module.exports = process.env.PORT" });
  expect(plan.port).toBe(8080);
  expect(suggestions).toEqual([]);
});

test("the port is looked for in what the entry imports, and build output is traced back to its source", () => {
  const files = {
    "package.json": { main: "dist/main.js", scripts: { build: "tsc" } },
    "src/main.ts": "import { start } from './web/server.js'\nstart()",
    "src/web/server.ts": "\nexport const start = () => app.listen(4000)",
    "src/other.ts": "app.listen(5000)",
  };
  expect(analysisOf(files)).toMatchObject({
    plan: { port: 4000 },
    suggestions: [{ file: "src/web/server.ts", line: 2 }],
  });
});

test.each([
  ["next start -p 3000", 3000],
  ["next start --port=3001", 3001],
  ["PORT=5000 node server.js", 5000],
  ["cross-env NODE_ENV=production PORT=5001 node server.js", 5001],
  ["next start -p $PORT", 8080],
  ["next start -p ${PORT:-3000}", 8080],
  ["mkdir -p 3000 && node x.js", 8080],
])("a number in the start command: %s", (start, port) => {
  expect(analysisOf({ "package.json": { scripts: { start } }, "server.js": "" }).plan.port).toBe(port);
});

test.each([
  ["app.run(host='0.0.0.0', port=5001)", 5001],
  ["import uvicorn\nuvicorn.run('main:api', host='0.0.0.0', port=8001)", 8001],
  ["PORT = 9000\nHTTPServer(('', PORT), Handler).serve_forever()", 9000],
  ["web.run_app(make(), port=8081)", 8081],
  ["import flask\napp = make()\nif x:\n    app.run(host='0.0.0.0')", 5000],
  ["app.run(port=int(os.environ.get('PORT', 5000)))", 8080],
  ["port = os.getenv('PORT', 5000)\napp.run(port=port)", 8080],
  ["# app.run(port=5000)\nprint(1)", 8080],
])("Python: %j", (source, port) => {
  const { plan, suggestions } = python(source);
  expect(plan.port).toBe(port);
  expect(suggestions).toHaveLength(port === 8080 ? 0 : 1);
});

test.each([
  ["an installed project", '[build-system]\nrequires = ["hatchling"]\n', "shop/cli.py"],
  ["an installed project in src", '[build-system]\nrequires = ["hatchling"]\n', "src/shop/cli.py"],
  ["a project that is not installed", "", "shop/cli.py"],
])("the port is looked for in the script that %s starts", (_, system, path) => {
  const { plan, suggestions } = analysisOf({
    "pyproject.toml": `[project]\nname = "shop"\n[project.scripts]\nstart = "shop.cli:main"\n${system}`,
    [path]: "import servers\ndef main():\n    servers.run('shop.web:app', host='0.0.0.0', port=8000)\n",
  });
  expect(plan.port).toBe(8000);
  expect(suggestions).toMatchObject([{ code: "fixed_port", file: path, line: 3 }]);
});

test("a number in a Procfile counts, the default port of a server does not", () => {
  const web = (command: string) =>
    analysisOf({ Procfile: `web: ${command}`, "main.py": "", "requirements.txt": "gunicorn" }).plan.port;
  expect(web("gunicorn -b 0.0.0.0:8000 main:app")).toBe(8000);
  expect(web("gunicorn --bind :$PORT main:app")).toBe(8080);
  expect(web("uvicorn main:app --host 0.0.0.0 --port 9000")).toBe(9000);
  expect(web("gunicorn main:app")).toBe(8080);
});

test.each([
  "node .",
  "node ./",
  "node src/",
  "node src",
  "node --import ./tracing.js src/index.js",
  "node -r ./tracing.js src/index.js",
])("%s is followed to the file that it runs", (start) => {
  const manifest = { main: "lib/run", scripts: { start } };
  const { plan } = analysisOf({
    "package.json": manifest,
    "lib/run.js": "app.listen(4321)",
    "src/index.js": "app.listen(4321)",
    "tracing.js": "",
  });
  expect(plan.port).toBe(4321);
});

test("numbers of a minified bundle are no port", () => {
  const bundle = `${"var a=1;".repeat(1000)}t=1089;e.listen({port:t});`;
  expect(node(bundle)).toMatchObject({ plan: { port: 8080 }, suggestions: [] });
});

test.each([
  ["next start -p 3000", '"-p 3000"', '"-p $PORT"'],
  ["uvicorn main:app --host 0.0.0.0 --port=3000", '"--port=3000"', '"--port=$PORT"'],
  ["gunicorn -b 0.0.0.0:3000 app:app", '"-b 0.0.0.0:3000"', '"-b 0.0.0.0:$PORT"'],
  ["python manage.py runserver 0.0.0.0:3000", '"runserver 0.0.0.0:3000"', '"runserver 0.0.0.0:$PORT"'],
])("a port in the command %s is quoted, with what to write instead", (web, found, instead) => {
  const { plan, suggestions } = analysisOf({
    "package.json": "{}",
    "requirements.txt": "",
    "main.py": "",
    "app.py": "",
    "manage.py": "",
    Procfile: `web: ${web}`,
  });
  expect(plan.port).toBe(3000);
  const message = suggestions.find(({ code }) => code === "fixed_port")?.message ?? "";
  expect(message).toContain(`The start command sets the port with ${found}, so 3000 is used. Write ${instead} there`);
});

test("a port that the command assigns is to be left out", () => {
  const { plan, suggestions } = analysisOf({
    "package.json": { scripts: { start: "PORT=3000 node a.js" } },
    "a.js": "",
  });
  expect(plan.port).toBe(3000);
  expect(suggestions[0]?.message).toBe(
    'The start command sets the port with "PORT=3000", so 3000 is used. Remove it: the app gets its port in the environment variable PORT.',
  );
});

test.each([
  ["micro", 3000],
  ["NODE_ENV=production micro -l tcp://0.0.0.0:4000", 4000],
  ["micro -l tcp://0.0.0.0:$PORT", 8080],
  ["json-server --host 0.0.0.0 db.json", 3000],
  ["json-server --host 0.0.0.0 --port $PORT db.json", 8080],
])("a program that does not read PORT listens on its own: %s", (start, port) => {
  const manifest = { scripts: { start }, dependencies: { micro: "10", "json-server": "0.17" } };
  expect(analysisOf({ "package.json": manifest, "db.json": "{}" }).plan.port).toBe(port);
});
