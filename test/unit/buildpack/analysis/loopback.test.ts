import { describe, expect, test } from "vitest";
import { cpuTimer } from "../../../harness/cpu-time.ts";
import { analysisOf } from "./tree.ts";

type Files = Record<string, string | object>;
const found = (files: Files) =>
  analysisOf(files)
    .suggestions.filter(({ code }) => code === "loopback_address")
    .map(({ file, line }) => `${file}:${line}`);
const manifest = { "package.json": '{"scripts": {"start": "node server.js"}}' };

describe("a start command that listens on the loopback address", () => {
  test.each([
    ["next start -H localhost", "-H 0.0.0.0"],
    ["next start --hostname=127.0.0.1 -p $PORT", "--hostname=0.0.0.0"],
    ["uvicorn main:app --host 127.0.0.1 --port $PORT", "--host 0.0.0.0"],
    ["gunicorn -b 127.0.0.1:8000 main:app", "-b 0.0.0.0:8000"],
    ["gunicorn --bind=localhost:$PORT main:app", "--bind=0.0.0.0:$PORT"],
    ["hypercorn main:app", "--bind 0.0.0.0:$PORT"],
    ["daphne -p 8080 main:app", "--bind 0.0.0.0:$PORT"],
    ["sanic main:app --port $PORT", "--host 0.0.0.0"],
    ["waitress-serve --listen=127.0.0.1:8080 main:app", "--listen=0.0.0.0:8080"],
    ["streamlit run main.py --server.address localhost", "--server.address 0.0.0.0"],
    ["serve -s build -l tcp://localhost:8080", "-l tcp://0.0.0.0:8080"],
    ["HOST=127.0.0.1 node server.js", "HOST=0.0.0.0"],
    ["uvicorn main:app --host '::1'", "--host '0.0.0.0"],
  ])("%s", (command, write) => {
    const { suggestions } = analysisOf({ Procfile: `web: ${command}\n`, "main.py": "", "server.js": "" });
    const message = suggestions.find(({ code }) => code === "loopback_address")?.message ?? "";
    expect(message).toContain(`Write "${write}`);
    expect(suggestions.find(({ code }) => code === "loopback_address")).toMatchObject({ file: "Procfile", line: 1 });
  });

  test.each([
    "next start -H 0.0.0.0",
    "uvicorn main:app",
    "uvicorn main:app --host 0.0.0.0 --forwarded-allow-ips 127.0.0.1",
    "gunicorn main:app",
    "hypercorn --bind 0.0.0.0:$PORT main:app",
    "daphne -b 0.0.0.0 -p $PORT main:app",
    "sanic main:app -H 0.0.0.0",
    "DB_URL=postgres://127.0.0.1/x node server.js",
    "node server.js --db-host 127.0.0.1",
  ])("but not %s", (command) => {
    expect(found({ Procfile: `web: ${command}\n`, "main.py": "", "server.js": "" })).toEqual([]);
  });
});

test.each<[string, Files]>([
  ["listen with an address", { "server.js": "\napp.listen(process.env.PORT, '127.0.0.1')" }],
  [
    "listen with a name",
    { "server.js": "\napp.listen(Number(process.env.PORT), 'localhost', () => console.log('up'))" },
  ],
  ["listen with options", { "server.js": "\nserver.listen({ port: process.env.PORT, host: 'localhost' })" }],
  ["a constant", { "server.js": "const hostname = '127.0.0.1'\nserver.listen(process.env.PORT, hostname, () => {})" }],
  [
    "a constant in options",
    { "server.js": 'const host: string = "::1"\nserver.listen({ port: process.env.PORT, host })' },
  ],
  [
    "a constant of another name in options",
    { "server.js": "const where = 'localhost'\nserver.listen({ port: process.env.PORT, host: where })" },
  ],
  [
    "an address in a file beside it",
    {
      "server.js": "import { host } from './config.js'\nserver.listen(process.env.PORT, host)",
      "config.js": "export const host = 'localhost'",
    },
  ],
  ["Bun", { "server.js": "\nBun.serve({ port: process.env.PORT, hostname: 'localhost', fetch })" }],
  ["Hapi", { "server.js": "\nconst server = Hapi.server({ port: process.env.PORT, host: 'localhost' })" }],
  [
    "Fastify without a host",
    { "server.js": "const app = require('fastify')()\napp.listen({ port: process.env.PORT })" },
  ],
  [
    "Fastify with a port alone",
    { "server.js": "import Fastify from 'fastify'\nfastify.listen(process.env.PORT || 3000, (err) => {})" },
  ],
  [
    "NestJS on Fastify",
    {
      "server.js":
        "import { FastifyAdapter } from '@nestjs/platform-fastify'\nawait app.listen(process.env.PORT ?? 3000);",
    },
  ],
])("Node.js: %s", (_, files) => {
  expect(found({ ...manifest, ...files })).toEqual(["server.js:2"]);
});

test.each([
  "app.listen(process.env.PORT)",
  "app.listen(process.env.PORT, '0.0.0.0')",
  "app.listen(process.env.PORT, () => console.log('http://localhost'))",
  "const host = process.env.HOST || 'localhost'\napp.listen(process.env.PORT, host)",
  "const host = process.env.HOST ?? '127.0.0.1'\napp.listen({ port: process.env.PORT, host })",
  "import Fastify from 'fastify'\napp.listen({ port: process.env.PORT, host: '0.0.0.0' })",
  "import Fastify from 'fastify'\napp.listen({ port: process.env.PORT, ...options })",
  "import Fastify from 'fastify'\napp.listen(options)",
  "import Fastify from 'fastify'\napp.listen(process.env.PORT, '::')",
  "import fastify from 'fastify'\nawait app.listen(process.env.PORT, host, () => {})",
  "// app.listen(3000, 'localhost')\napp.listen(process.env.PORT)",
  "createClient({ host: 'localhost' })\napp.listen(process.env.PORT)",
])("Node.js: not %j", (source) => {
  expect(found({ ...manifest, "server.js": source })).toEqual([]);
});

const requirements = { "requirements.txt": "", Procfile: "web: python main.py\n" };
test.each<[string, string]>([
  ["a host of uvicorn", "import uvicorn\nuvicorn.run(app, host='127.0.0.1', port=int(os.environ['PORT']))"],
  ["uvicorn without a host", "import uvicorn\nuvicorn.run('main:app', port=int(os.environ['PORT']))"],
  ["Flask without a host", "from flask import Flask\napp.run(port=os.environ['PORT'])"],
  ["Flask without anything", "from flask import Flask\napp.run()"],
  ["Bottle", "from bottle import run, route\nrun(port=os.environ['PORT'])"],
  ["Bottle with a host", "import bottle\nbottle.run(host='localhost', port=os.environ['PORT'])"],
  ["a constant", "HOST = 'localhost'\nuvicorn.run(app, host=HOST, port=PORT)"],
  [
    "an option of the command line",
    "parser.add_argument('--host', default='127.0.0.1')\nuvicorn.run(app, host=args.host)",
  ],
  ["Python's own server", "\nHTTPServer(('localhost', int(os.environ['PORT'])), Handler)"],
  ["Python's own server with a constant", "host = '127.0.0.1'\nHTTPServer((host, int(os.environ['PORT'])), Handler)"],
  ["Gradio", "\ndemo.launch(server_name='127.0.0.1')"],
  ["wsgiref", "\nmake_server('127.0.0.1', int(os.environ['PORT']), app)"],
  ["an address as the first argument", "\napp.run('localhost', os.environ['PORT'])"],
])("Python: %s", (_, source) => {
  expect(found({ ...requirements, "main.py": source })).toEqual(["main.py:2"]);
});

test.each([
  "import uvicorn\nuvicorn.run(app, host='0.0.0.0', port=8080)",
  "import uvicorn\nuvicorn.run(app, **options)",
  "import uvicorn\nuvicorn.run(app, uds='/run/app.sock')",
  "from flask import Flask\napp.run('0.0.0.0', 8080)",
  "from flask import Flask\napp.run(host=os.getenv('HOST', '127.0.0.1'))",
  "HOST = os.environ.get('HOST', 'localhost')\nuvicorn.run(app, host=HOST)",
  "demo.launch()",
  "HTTPServer(('', 8080), Handler)",
  "# app.run(host='localhost')",
  "redis.connect(host='localhost')",
  "asyncio.run(main())",
])("Python: not %j", (source) => {
  expect(found({ ...requirements, "main.py": source })).toEqual([]);
});

test("gunicorn's configuration", () => {
  const files = { Procfile: "web: gunicorn main:app", "main.py": "", "requirements.txt": "gunicorn" };
  expect(found({ ...files, "gunicorn.conf.py": '\nbind = "127.0.0.1:8000"\n' })).toEqual(["gunicorn.conf.py:2"]);
  expect(found({ ...files, "gunicorn.conf.py": '\nbind = "0.0.0.0:8000"\n' })).toEqual([]);
});

test("a development server is to be replaced as a whole, so that its address is no advice", () => {
  const { suggestions } = analysisOf({ Procfile: "web: fastapi dev main.py", "main.py": "", "requirements.txt": "" });
  expect(suggestions.map(({ code }) => code)).toEqual(["development_start"]);
});

test.each([
  ["node --env-file=.env server.js", true],
  ["node --env-file .env.production server.js", true],
  ["uvicorn main:app --env-file .env", true],
  ["node --env-file-if-exists=.env server.js", false],
  ["node server.js --env-files", false],
])("a file of variables in %s: %s", (command, advised) => {
  const { suggestions } = analysisOf({ Procfile: `web: ${command}`, "server.js": "", "main.py": "" });
  const advice = suggestions.filter(({ code }) => code === "env_file");
  expect(advice).toHaveLength(advised ? 1 : 0);
  if (advised) expect(advice[0]?.message).toContain('"slipway env set');
});

describe("the cost of looking for an address grows with the source, not faster", () => {
  test.each<[string, Files]>([
    ["listens", { ...manifest, "server.js": ".listen(a, b ".repeat(60_000) }],
    ["options", { ...manifest, "server.js": ".listen({ host ".repeat(60_000) }],
    ["Fastify's listens", { ...manifest, "server.js": `import 'fastify'\n${".listen(process.port[".repeat(40_000)}` }],
    ["calls", { ...requirements, "main.py": `from flask import x\n${"run(a, host=b ".repeat(60_000)}` }],
    ["runs", { ...requirements, "main.py": `from flask import x\n${"app.run(a \n".repeat(60_000)}` }],
    ["empty lines", { ...requirements, "main.py": `${"\n".repeat(300_000)}from flask import x\n` }],
    ["wrappers", { "requirements.txt": "", "main.py": `app = ${"f(".repeat(200_000)}` }],
    ["spaces", { "requirements.txt": "", "main.py": `app =${" ".repeat(400_000)}x` }],
    ["factories", { "requirements.txt": "flask", "main.py": "def create_app(a:\n".repeat(40_000) }],
  ])("%s", (_, files) => {
    const spent = cpuTimer();
    analysisOf(files);
    expect(spent()).toBeLessThan(2000);
  });
});
