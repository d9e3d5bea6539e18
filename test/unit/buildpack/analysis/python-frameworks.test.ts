import { describe, expect, test } from "vitest";
import { analysisReport } from "../../../../buildpack/analysis/report.ts";
import { analysisOf, outcomeOf } from "./tree.ts";

type Files = Record<string, string | object>;
const uvicorn = (target: string) => `uvicorn --host 0.0.0.0 --port $PORT ${target}`;
const gunicorn = (target: string) => `gunicorn --bind 0.0.0.0:$PORT ${target}`;
const startOf = (files: Files) => analysisOf(files).plan.start;

test.each<[string, string, string]>([
  ["Litestar", "from litestar import Litestar\napp = Litestar(route_handlers=[hello])\n", uvicorn("main:app")],
  ["Sanic", 'from sanic import Sanic\napp = Sanic("Shop")\n', "sanic main:app --host 0.0.0.0 --port $PORT"],
  ["Bottle", "from bottle import Bottle\napp = Bottle()\n", gunicorn("main:app")],
  ["Bottle's default application", "import bottle\napplication = bottle.default_app()\n", gunicorn("main:application")],
  ["Quart", "from quart import Quart\napp = Quart(__name__)\n", uvicorn("main:app")],
  ["Falcon", "import falcon\napp = falcon.App()\n", gunicorn("main:app")],
  ["Falcon's ASGI", "import falcon.asgi\napp = falcon.asgi.App()\n", uvicorn("main:app")],
  ["Falcon's ASGI by name", "from falcon.asgi import App\napi = App()\n", uvicorn("main:api")],
  ["Pyramid", "app = config.make_wsgi_app()\n", gunicorn("main:app")],
  ["Shiny", "from shiny import App, ui\napp = App(page, server)\n", uvicorn("main:app")],
  ["FastHTML", "from fasthtml.common import *\n\napp, rt = fast_app()\n", uvicorn("main:app")],
  ["BlackSheep", "from blacksheep import Application, get\n\napp = Application()\n", uvicorn("main:app")],
  ["Dash", "import dash\napp = dash.Dash(__name__)\nserver = app.server\n", gunicorn("main:server")],
  ["an application in a call", "app = trace(Flask(__name__))\n", gunicorn("main:app")],
  ["an application in two calls", "app: ASGIApp = outer(middle.inner(FastAPI()), level=1)\n", uvicorn("main:app")],
  ["an application in parentheses", "app = (\n    FastAPI()\n)\n", uvicorn("main:app")],
  ["an application given by name", "app = SentryAsgiMiddleware(app=FastAPI())\n", uvicorn("main:app")],
  [
    "Socket.IO around an application",
    "api = FastAPI()\nsocket_app = socketio.ASGIApp(sio, other_asgi_app=api)\n",
    uvicorn("main:socket_app"),
  ],
  [
    "Socket.IO around a WSGI application",
    "app = Flask(__name__)\napplication = socketio.WSGIApp(sio, app)\n",
    gunicorn("main:application"),
  ],
  [
    "a middleware around an application",
    "api = Starlette()\napp = CORSMiddleware(api, allow_origins=['https://acme.io'])\n",
    uvicorn("main:app"),
  ],
  ["two wrappers", "a = Flask(__name__)\nb = ProxyFix(a, x_for=1)\nc = WsgiToAsgi(b)\n", uvicorn("main:c")],
  ["a wrapper of something else", "app = Flask(__name__)\nother = WhiteNoise(static)\n", gunicorn("main:app")],
  ["Gradio in FastAPI", "app = gr.mount_gradio_app(FastAPI(), demo, path='/')\n", uvicorn("main:app")],
])("the application of %s is found", (_, source, start) => {
  expect(startOf({ "main.py": source, "requirements.txt": "flask\nsanic\n" })).toBe(start);
});

test.each<[string, string]>([
  ["App without its framework", "from kivy.app import App\napp = App()\n"],
  ["API without its framework", "from acme import API\napi = API()\n"],
  ["a function", "def app():\n    app = Flask(__name__)\n"],
])("%s is no application", (_, source) => {
  expect(startOf({ "main.py": source })).toBe("python main.py");
});

const chainlit = "import chainlit as cl\n\n@cl.on_message\nasync def main(message):\n    pass\n";
test.each<[string, Files, string]>([
  [
    "Chainlit",
    { "app.py": chainlit, "requirements.txt": "chainlit\n" },
    "chainlit run app.py --host 0.0.0.0 --port $PORT --headless",
  ],
  [
    "Chainlit in any source",
    { "bot_page.py": chainlit, "util.py": "", "requirements.txt": "chainlit\n" },
    "chainlit run bot_page.py --host 0.0.0.0 --port $PORT --headless",
  ],
  [
    "FastAPI that serves Chainlit under a path",
    {
      "main.py":
        'from fastapi import FastAPI\nfrom chainlit.utils import mount_chainlit\napp = FastAPI()\nmount_chainlit(app=app, target="page.py", path="/chat")\n',
      "page.py": chainlit,
      "requirements.txt": "chainlit\nfastapi\n",
    },
    uvicorn("main:app"),
  ],
  [
    "Gradio",
    {
      "demo.py": "import gradio as gr\ndemo = gr.Interface(f, 'text', 'text')\ndemo.launch()\n",
      "util.py": "",
      "requirements.txt": "gradio\n",
    },
    "python demo.py",
  ],
  [
    "NiceGUI",
    {
      "site.py": "from nicegui import ui\n\nui.label('x')\nui.run()\n",
      "util.py": "",
      "requirements.txt": "nicegui\n",
    },
    "python site.py",
  ],
  [
    "Bottle that runs itself",
    {
      "hello.py": "from bottle import route, run\n\nrun(host='0.0.0.0', port=8080)\n",
      "util.py": "",
      "requirements.txt": "bottle\n",
    },
    "python hello.py",
  ],
  [
    "the named source that serves",
    { "main.py": "print(1)\n", "server.py": "web.run_app(app)\n", "requirements.txt": "aiohttp\n" },
    "python server.py",
  ],
  [
    "the named source that imports the one that serves",
    {
      "main.py": "from server import start\nstart()\n",
      "server.py": "def start():\n    web.run_app(app)\n",
      "requirements.txt": "aiohttp\n",
    },
    "python main.py",
  ],
  [
    "a factory of an ASGI application",
    {
      "main.py": "from fastapi import FastAPI\n\ndef create_app() -> FastAPI:\n    return FastAPI()\n",
      "requirements.txt": "fastapi\nuvicorn\n",
    },
    "uvicorn --factory --host 0.0.0.0 --port $PORT main:create_app",
  ],
  [
    "Sanic in a folder whose modules import one another",
    {
      "src/server.py": "from sanic import Sanic\nfrom db import x\napp = Sanic('a')\n",
      "src/db.py": "",
      "requirements.txt": "sanic\n",
    },
    "PYTHONPATH=src sanic server:app --host 0.0.0.0 --port $PORT",
  ],
])("%s is started", (_, files, start) => {
  expect(startOf(files)).toBe(start);
});

test("an app in a folder is found by any of these frameworks", () => {
  expect(analysisOf({ "README.md": "", "web/site.py": "from sanic import Sanic\napp = Sanic('a')\n" }).plan.root).toBe(
    "web",
  );
});

test("servers that read their address from variables are told it", () => {
  const { env, port } = analysisOf({ "main.py": "" }).plan;
  for (const name of ["UVICORN", "CHAINLIT", "LITESTAR", "GRANIAN", "FLASK_RUN"]) {
    expect([env[`${name}_HOST`], env[`${name}_PORT`]]).toEqual(["0.0.0.0", String(port)]);
  }
});

describe("scripts of pyproject.toml", () => {
  const project = (scripts: string, more = "") => `[project]\nname = "my-shop"\n[project.scripts]\n${scripts}\n${more}`;
  test.each<[string, Files, string]>([
    [
      "the only one has the project's name",
      {
        "pyproject.toml": project('my_shop = "my_shop:main"', "[build-system]\n"),
        "uv.lock": "",
        "src/my_shop/__init__.py": "",
      },
      "my_shop",
    ],
    [
      "the project is not installed",
      { "pyproject.toml": project('my-shop = "my_shop.cli:main"'), "requirements.txt": "", "src/my_shop/cli.py": "" },
      "PYTHONPATH=src python -c 'import sys; from my_shop.cli import main; sys.exit(main())'",
    ],
    [
      "there is a main file, too",
      { "pyproject.toml": project('my-shop = "main:main"'), "main.py": "" },
      "python -c 'import sys; from main import main; sys.exit(main())'",
    ],
    [
      "there is a web application",
      { "pyproject.toml": project('my-shop = "cli:main"'), "main.py": "app = FastAPI()\n" },
      uvicorn("main:app"),
    ],
    [
      "there are others",
      { "pyproject.toml": project('my-shop = "cli:main"\nother = "cli:other"'), "main.py": "" },
      "python main.py",
    ],
    ["it has another name", { "pyproject.toml": project('tool = "cli:main"'), "main.py": "" }, "python main.py"],
  ])("%s", (_, files, start) => {
    expect(startOf(files)).toBe(start);
  });
});

test.each<[string, Files, string, string]>([
  ["Python", { "requirements.txt": "", ".python-version": "3.12" }, "python3.12", "python"],
  ["Node.js", { "package.json": { engines: { node: "22" } } }, "nodejs22.x", "nodejs"],
])("an app without a start command still has a runtime: %s", (_, files, runtime, language) => {
  const outcome = outcomeOf(files);
  expect(outcome).toMatchObject({ ok: false, runtime, error: { code: "no_start_command" } });
  expect(analysisReport("x", outcome)).toMatchObject({
    runtime,
    language,
    start: null,
    error: { code: "no_start_command" },
  });
  expect(Object.keys(analysisReport("x", outcome).error ?? {})).toEqual(["code", "message"]);
});
