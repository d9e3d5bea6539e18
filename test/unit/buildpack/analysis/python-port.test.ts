import { expect, test } from "vitest";
import { analysisOf } from "./tree.ts";

const run = "import uvicorn\nfrom shop.config import PORT, settings\n";

test.each<[string, Record<string, string>, number, string]>([
  [
    "a number in a package that the entry imports",
    { "main.py": `${run}uvicorn.run("shop.server:app", port=PORT)\n`, "shop/config.py": "PORT = 9001\n" },
    9001,
    "main.py:3",
  ],
  [
    "the default of an application that a package makes",
    {
      "run.py": "from shop import app\napp.run()\n",
      "shop/__init__.py": "from flask import Flask\napp = make(Flask)\n",
    },
    5000,
    "run.py:2",
  ],
  ["Quart's default", { "main.py": "from quart import Quart\nmake().app.run()\napp.run()\n" }, 5000, "main.py:3"],
  ["Sanic's default", { "main.py": 'from sanic import Sanic\napp = Sanic("a")\napp.run()\n' }, 8000, "main.py:3"],
  [
    "a neighbor that a package imports with a dot",
    {
      "shop/__main__.py": "from .server import serve_all\nserve_all()\n",
      "shop/server.py": "def serve_all():\n    app.run(port=9002)\n",
    },
    9002,
    "shop/server.py:2",
  ],
  [
    "an option of Tornado",
    { "main.py": 'define("port", default=8888, help="run on the port", type=int)\napp.listen(options.port)\n' },
    8888,
    "main.py:2",
  ],
  [
    "an option of argparse",
    {
      "main.py":
        'p.add_argument("-p", "--port", type=int, default=8001)\nargs = p.parse_args()\nweb.run_app(app, port=args.port)\n',
    },
    8001,
    "main.py:3",
  ],
  ["a number behind an address", { "main.py": 'app = flask()\napp.run("0.0.0.0", 5001)\n' }, 5001, "main.py:2"],
  [
    "settings without a port",
    {
      "main.py": `${run}uvicorn.run("shop.server:app", port=9003)\n`,
      "shop/config.py": "class Settings(BaseSettings):\n    title: str\n",
    },
    9003,
    "main.py:3",
  ],
])("the fixed port of a Python app is found: %s", (_, files, port, place) => {
  const { plan, suggestions } = analysisOf({ "requirements.txt": "", ...files });
  expect(plan.port).toBe(port);
  expect(suggestions.filter(({ code }) => code === "fixed_port").map(({ file, line }) => `${file}:${line}`)).toEqual([
    place,
  ]);
});

test.each<[string, Record<string, string>]>([
  [
    "a package reads PORT",
    {
      "main.py": `${run}uvicorn.run("shop.server:app", host="0.0.0.0", port=PORT)\n`,
      "shop/config.py": 'PORT = int(os.getenv("PORT", "9001"))\n',
    },
  ],
  [
    "settings have a port",
    {
      "main.py": `${run}uvicorn.run("shop.server:app", host="0.0.0.0", port=settings.port)\n`,
      "shop/config.py": "class Settings(BaseSettings):\n    port: int = 9001\n",
    },
  ],
  ["what is run is another program", { "main.py": "import flask\nsubprocess.run(['ls'])\nasyncio.run(main())\n" }],
  [
    "the number cannot be told",
    { "main.py": `${run}uvicorn.run("shop.server:app", host="0.0.0.0", port=settings.port)\n` },
  ],
  [
    "the number is for a module that is run by itself",
    { "main.py": "import shop\n", "shop.py": "if __name__ == '__main__':\n    app.run(port=7777)\n" },
  ],
])("a Python app listens on PORT where %s", (_, files) => {
  expect(analysisOf({ "requirements.txt": "flask\nuvicorn\n", ...files })).toMatchObject({
    plan: { port: 8080 },
    suggestions: [],
  });
});
