import { expect, test } from "vitest";
import { analysisOf, errorOf } from "./tree.ts";

type Files = Record<string, string | object>;
const fastapi = "from fastapi import FastAPI\n\napp = FastAPI()\n";
const flask = "from flask import Flask\n\napp = Flask(__name__)\n";
const factory = "from flask import Flask\n\ndef create_app(test_config=None):\n    return Flask(__name__)\n";
const uvicorn = (target: string) => `uvicorn --host 0.0.0.0 --port $PORT ${target}`;
const gunicorn = (target: string) => `gunicorn --bind 0.0.0.0:$PORT ${target}`;
const django = { "manage.py": 'import django\nos.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop.settings")\n' };
const requirements = { "requirements.txt": "fastapi\nflask\nuvicorn\ngunicorn\ndjango\nstreamlit\n" };

test.each<[string, Files, string]>([
  ["a Procfile first", { Procfile: "web: gunicorn shop.wsgi", ...django, "shop/wsgi.py": "" }, "gunicorn shop.wsgi"],
  [
    "Django by WSGI_APPLICATION",
    { ...django, "shop/settings.py": "WSGI_APPLICATION = 'shop.web.application'\n", "main.py": fastapi },
    gunicorn("shop.web:application"),
  ],
  [
    "Django by wsgi.py",
    { ...django, "shop/settings.py": "# WSGI_APPLICATION = 'x.y.z'\n", "shop/wsgi.py": "", "shop/asgi.py": "" },
    gunicorn("shop.wsgi:application"),
  ],
  [
    "Django by asgi.py",
    { ...django, "shop/settings/base.py": "", "shop/asgi.py": "" },
    uvicorn("shop.asgi:application"),
  ],
  [
    "Django in a folder",
    { "src/manage.py": django["manage.py"], "src/shop/settings.py": "", "src/shop/wsgi.py": "" },
    "gunicorn --chdir src --bind 0.0.0.0:$PORT shop.wsgi:application",
  ],
  [
    "tool.fastapi.entrypoint",
    { "pyproject.toml": '[tool.fastapi]\nentrypoint = "shop.api:app"\n', "main.py": flask },
    uvicorn("shop.api:app"),
  ],
  [
    "project.scripts start",
    {
      "pyproject.toml": '[project]\nname="a"\n[project.scripts]\nserve = "a:s"\nstart = "a.cli:main"\n',
      "main.py": flask,
    },
    "python -c 'import sys; from a.cli import main; sys.exit(main())'",
  ],
  [
    "project.scripts web, installed",
    {
      "pyproject.toml": '[build-system]\nrequires=[]\n[project]\nname="a"\n[project.scripts]\nweb = "a.cli:main"\n',
      "uv.lock": "",
    },
    "web",
  ],
  [
    "streamlit",
    { "Home.py": "import streamlit as st\n", "util.py": "" },
    "streamlit run Home.py --server.address 0.0.0.0 --server.port $PORT --server.headless true",
  ],
  ["FastAPI in main", { "main.py": fastapi, "app.py": flask }, uvicorn("main:app")],
  ["Flask in app", { "app.py": flask }, gunicorn("app:app")],
  [
    "Flask under another name",
    { "wsgi.py": "import flask\napplication = flask.Flask(__name__)\n" },
    gunicorn("wsgi:application"),
  ],
  ["a name with a type", { "server.py": "api: FastAPI = FastAPI(title='x')\n" }, uvicorn("server:api")],
  ["src", { "src/main.py": fastapi }, uvicorn("src.main:app")],
  ["app", { "app/main.py": `from app.db import x\n${fastapi}`, "app/db.py": "" }, uvicorn("app.main:app")],
  [
    "a folder whose module imports its neighbors by bare names",
    { "backend/main.py": `from db import x\n${fastapi}`, "backend/db.py": "" },
    "uvicorn --app-dir backend --host 0.0.0.0 --port $PORT main:app",
  ],
  [
    "a folder whose module imports from a folder beside it that has no __init__.py",
    { "backend/main.py": `from routers.items import x\n${fastapi}`, "backend/routers/items.py": "" },
    "uvicorn --app-dir backend --host 0.0.0.0 --port $PORT main:app",
  ],
  [
    "a package in src, which is imported without it",
    { "src/shop/main.py": `from shop.db import x\n${fastapi}`, "src/shop/db.py": "" },
    "uvicorn --app-dir src --host 0.0.0.0 --port $PORT shop.main:app",
  ],
  [
    "a package in src, which is imported with it",
    { "src/shop/main.py": `from src.shop.db import x\n${fastapi}`, "src/shop/db.py": "" },
    uvicorn("src.shop.main:app"),
  ],
  ["api", { "api/index.py": flask }, gunicorn("api.index:app")],
  ["any root source", { "shop.py": flask, "util.py": "" }, gunicorn("shop:app")],
  [
    "an application from a factory",
    {
      "wsgi.py": "from shop import create_app\n\napp = create_app()\n",
      "shop/__init__.py": "",
      "requirements.txt": "flask\n",
    },
    gunicorn("wsgi:app"),
  ],
  ["main.py", { "main.py": "print(1)", "app.py": "" }, "python main.py"],
  ["app.py", { "app.py": "print(1)", "util.py": "" }, "python app.py"],
  ["the only root source", { "bot_runner.py": "print(1)" }, "python bot_runner.py"],
  ["a package with __main__", { "shop/__main__.py": "" }, "python -m shop"],
  [
    "an application that wsgi.py imports",
    {
      "wsgi.py": "from shop import app\n\nif __name__ == '__main__':\n    app.run()\n",
      "shop/web/site.py": flask,
      "requirements.txt": "flask\n",
    },
    gunicorn("wsgi:app"),
  ],
  [
    "an application that asgi.py imports under another name",
    { "asgi.py": "from shop.web import site as application\n", "shop/web.py": "", "requirements.txt": "starlette\n" },
    uvicorn("asgi:application"),
  ],
  [
    "an application that wsgi.py makes",
    { "wsgi.py": "from shop import build\n\napplication = build()\n", "requirements.txt": "flask\n" },
    gunicorn("wsgi:application"),
  ],
  [
    "an application that a function of another module makes, in a package below src",
    {
      "pyproject.toml": '[project]\nname = "shop"\ndependencies = ["fastapi", "uvicorn"]\n',
      "src/shop/main.py": "from .core import create_application\n\napp = create_application(debug=False)\n",
      "src/shop/core.py": "",
      "src/shop/__init__.py": "",
    },
    "uvicorn --app-dir src --host 0.0.0.0 --port $PORT shop.main:app",
  ],
  ["a package with a hyphen in its name", { "my-shop/__main__.py": "" }, "python -m my-shop"],
  [
    "the application of a package, not the configuration of its server",
    { "gunicorn.conf.py": "workers = 2\n", "shop/__init__.py": factory, "requirements.txt": "flask\n" },
    "gunicorn --bind 0.0.0.0:$PORT 'shop:create_app()'",
  ],
  [
    "the application of a package, not its settings beside it",
    { "config.py": "DEBUG = False\n", "shop/__init__.py": flask },
    gunicorn("shop:app"),
  ],
])("%s", (_, files, start) => {
  expect(analysisOf({ ...requirements, ...files }).plan.start).toBe(start);
});

test("a commented or indented application is ignored", () => {
  expect(
    analysisOf({
      ...requirements,
      "main.py": '"""\napp = FastAPI()\n"""\n# app = FastAPI()\ndef f():\n    app = FastAPI()\n',
    }).plan.start,
  ).toBe("python main.py");
});

test("static files are collected where STATIC_ROOT is set, and only there", () => {
  const settings = (text: string) =>
    analysisOf({ ...requirements, ...django, "shop/settings.py": text, "shop/wsgi.py": "" }).plan.build;
  expect(settings("STATIC_ROOT = BASE_DIR / 'static'\n")).toBe("python manage.py collectstatic --noinput");
  expect(settings("# STATIC_ROOT = 'x'\nSTATIC_URL = 'static/'\n")).toBeNull();
});

test.each([
  ["gunicorn", { "app.py": flask, "requirements.txt": "flask\n" }],
  ["uvicorn", { "app.py": fastapi, "requirements.txt": "fastapi\n" }],
])("%s is added with a suggestion when it is not among the dependencies", (server, files) => {
  const { plan, suggestions } = analysisOf(files);
  expect(plan.addedPackages).toEqual([server]);
  expect(suggestions).toMatchObject([{ code: "server_added", file: "app.py" }]);
  expect(suggestions[0]?.message).toContain(server);
});

test.each([
  ["uvicorn[standard]", "fastapi\nuvicorn[standard]>=0.30\n"],
  ["fastapi[standard]", "fastapi[standard]\n"],
  ["fastapi without its cloud", "fastapi[standard-no-fastapi-cloud-cli]>=0.116\n"],
  ["an included file", "fastapi\n-r requirements/base.txt\n"],
  ["an included file without a space", "fastapi\n-rrequirements/base.txt\n"],
  ["an address with a name", "fastapi\ngit+https://git.example.com/encode/uvicorn.git@main#egg=uvicorn\n"],
])("a server that %s brings is not added", (_, text) => {
  const { plan, suggestions } = analysisOf({
    "app.py": fastapi,
    "requirements.txt": text,
    "requirements/base.txt": "uvicorn==0.30\n",
  });
  expect(plan.addedPackages).toEqual([]);
  expect(suggestions).toEqual([]);
});

test("a server among the install_requires of setup.cfg is not added", () => {
  const cfg =
    "[options]\npackages = find:\ninstall_requires =\n    fastapi>=0.100\n    uvicorn[standard]; python_version > '3'\n\n[options.extras_require]\ntest = pytest\n";
  const { plan } = analysisOf({
    "app.py": fastapi,
    "setup.py": "from setuptools import setup\nsetup()\n",
    "setup.cfg": cfg,
  });
  expect(plan.addedPackages).toEqual([]);
});

const lock = '[[package]]\nname = "flask"\n[[package]]\nname = "gunicorn"\n';
test.each([
  [
    "an extra",
    "uv.lock",
    '[project]\nname = "a"\ndependencies = ["flask"]\n[project.optional-dependencies]\nprod = ["gunicorn>=22"]\n',
  ],
  [
    "an optional package",
    "poetry.lock",
    '[tool.poetry.dependencies]\nflask = "*"\ngunicorn = {version = "*", optional = true}\n',
  ],
  [
    "an optional group",
    "poetry.lock",
    '[tool.poetry.dependencies]\nflask = "*"\n[tool.poetry.group.prod]\noptional = true\n[tool.poetry.group.prod.dependencies]\ngunicorn = "*"\n',
  ],
  [
    "a group that uv leaves out",
    "uv.lock",
    '[project]\nname = "a"\ndependencies = ["flask"]\n[dependency-groups]\nprod = ["gunicorn"]\n',
  ],
])("a server that is locked as %s is not installed, so it is added", (_, file, pyproject) => {
  const { plan, suggestions } = analysisOf({ "app.py": flask, "pyproject.toml": pyproject, [file]: lock });
  expect(plan.addedPackages).toEqual(["gunicorn"]);
  expect(suggestions.map(({ code }) => code)).toEqual(["server_added"]);
});

test.each([
  ["flask\n", ["gunicorn"]],
  [".\n", []],
  ["-e .[prod]\n", []],
])("of pyproject.toml counts what requirements.txt installs: %j", (requirements, added) => {
  const files = { "app.py": flask, "pyproject.toml": '[project]\nname = "a"\ndependencies = ["gunicorn"]\n' };
  expect(analysisOf({ ...files, "requirements.txt": requirements }).plan.addedPackages).toEqual(added);
});

test.each([
  ["the group dev", "uv.lock", '[project]\nname = "a"\n[dependency-groups]\ndev = ["gunicorn"]\n'],
  [
    "a default group",
    "uv.lock",
    '[project]\nname = "a"\n[dependency-groups]\nprod = ["gunicorn"]\n[tool.uv]\ndefault-groups = ["prod"]\n',
  ],
  ["any group of pdm", "pdm.lock", '[project]\nname = "a"\n[dependency-groups]\nprod = ["gunicorn"]\n'],
  ["a group of poetry", "poetry.lock", '[tool.poetry.group.prod.dependencies]\ngunicorn = "*"\n'],
  ["what another package needs", "uv.lock", '[project]\nname = "a"\ndependencies = ["flask"]\n'],
])("a server in %s is installed", (_, file, pyproject) => {
  expect(analysisOf({ "app.py": flask, "pyproject.toml": pyproject, [file]: lock }).plan.addedPackages).toEqual([]);
});

test.each([
  ["--no-index\n--find-links wheels\nfastapi\n"],
  ["fastapi\n--index-url=https://packages.example.com/simple\n"],
  ["-r requirements/base.txt\n"],
])("an added server comes from where the other packages come from: %j", (text) => {
  const { plan, suggestions } = analysisOf({
    "app.py": fastapi,
    "requirements.txt": text,
    "requirements/base.txt": "-i https://packages.example.com/simple\nfastapi\n",
  });
  expect(plan).toMatchObject({ install: "pip install -r requirements.txt uvicorn", addedPackages: [] });
  expect(suggestions).toMatchObject([{ code: "server_added" }]);
});

test("an added server is installed by itself where the requirements have hashes, which would be asked of it too", () => {
  const text = "-i https://packages.example.com/simple\nfastapi==0.115.0 \\\n    --hash=sha256:00\n";
  const { plan } = analysisOf({ "app.py": fastapi, "requirements.txt": text });
  expect(plan).toMatchObject({ install: "pip install -r requirements.txt", addedPackages: ["uvicorn"] });
});

test.each([
  ["--find-links wheels\nflask\n", null],
  ["-f ./wheels\nflask\n", null],
  ["--find-links https://packages.example.com/wheels\nflask\n", ["requirements.txt"]],
])("packages in a folder of the archive are there when they are installed: %j", (text, manifests) => {
  expect(analysisOf({ "app.py": flask, "requirements.txt": text }).plan.manifests).toEqual(manifests);
});

test("migrations are never run, and that is said", () => {
  const files = {
    ...requirements,
    ...django,
    "shop/settings.py": "",
    "shop/wsgi.py": "",
    "cart/migrations/0001_initial.py": "",
  };
  expect(analysisOf(files).suggestions).toMatchObject([{ code: "migrations_not_run", file: "manage.py" }]);
  const release = analysisOf({ ...files, Procfile: "release: python manage.py migrate\nweb: gunicorn shop.wsgi\n" });
  expect(release.suggestions).toMatchObject([{ code: "migrations_not_run", file: "Procfile", line: 1 }]);
});

test.each([
  [
    "Poetry finds no package of that name",
    {
      "pyproject.toml":
        '[tool.poetry]\nname = "my-shop"\n[tool.poetry.scripts]\nstart = "app.main:start"\n[build-system]\n',
    },
  ],
  [
    "requirements.txt is what is installed",
    {
      "pyproject.toml": '[project]\nname = "a"\n[project.scripts]\nstart = "app.main:start"\n[build-system]\n',
      "requirements.txt": "",
    },
  ],
  [
    "uv is told that it is no package",
    {
      "pyproject.toml":
        '[project]\nname = "a"\n[project.scripts]\nstart = "app.main:start"\n[build-system]\n[tool.uv]\npackage = false\n',
    },
  ],
])("a script is called through Python where the project itself is not installed: %s", (_, files) => {
  expect(analysisOf({ "app/main.py": "", ...files }).plan.start).toBe(
    "python -c 'import sys; from app.main import start; sys.exit(start())'",
  );
});

test("tools at the root are not started", () => {
  const files = { "setup.py": "import versioneer", "versioneer.py": "if __name__ == '__main__':\n    main()\n" };
  expect(errorOf({ ...files, "shop/__init__.py": "" }).code).toBe("no_start_command");
  expect(errorOf({ "requirements.txt": "reflex", "rxconfig.py": "import reflex as rx\n" }).code).toBe(
    "no_start_command",
  );
  const filler = "if __name__ == '__main__':\n    fill()\n";
  const packaged = { "setup.py": "", "init_db.py": filler, "polls/__main__.py": "" };
  expect(analysisOf(packaged).plan.start).toBe("python -m polls");
});

test("without any of these there is no start command, and the sentence says what to add", () => {
  const { code, message } = errorOf({ "requirements.txt": "requests", "lib/a.py": "" });
  expect(code).toBe("no_start_command");
  expect(message).toContain("Procfile");
});

test.each([
  ["uv run uvicorn main:app --port $PORT", "uvicorn main:app --port $PORT"],
  ["uv run --no-dev gunicorn main:app", "gunicorn main:app"],
  ["uv run main.py", "python main.py"],
  ["uv run -m shop", "python -m shop"],
  ["poetry run python main.py", "python main.py"],
  ["A=1 pipenv run web --x", "A=1 gunicorn main:app --x"],
  ["pdm run serve", "uvicorn main:app"],
  ["uv run --with x gunicorn main:app", "uv run --with x gunicorn main:app"],
])("a runner does not stand between the container and the app: %s", (command, start) => {
  const files = {
    "main.py": "",
    "pyproject.toml": '[project]\nname = "a"\n[tool.pdm.scripts]\nserve = "uvicorn main:app"\n',
    Pipfile: '[scripts]\nweb = "gunicorn main:app"\n',
  };
  expect(analysisOf({ ...files, Procfile: `web: ${command}` }).plan.start).toBe(start);
});

/** The start of an app with these packages, or the sentence that says why there is none. */
const startWith = (packages: string, files: Files): string => {
  try {
    return analysisOf({ "requirements.txt": packages, ...files }).plan.start;
  } catch (error) {
    return String(error);
  }
};
/** Another package with an application: it is found only where nothing else is. */
const elsewhere = { "shop/main.py": fastapi };

test.each(["main", "app", "server", "wsgi", "asgi", "index", "start"])("an application in %s.py is found", (name) => {
  for (const folder of ["", "src/", "app/", "api/", "backend/"]) {
    const files = { ...elsewhere, [`${folder}${name}.py`]: fastapi };
    expect(startWith("fastapi", files)).toBe(uvicorn(`${folder.replace("/", ".")}${name}:app`));
  }
});

test.each([
  ["main.py", "app.py"],
  ["app.py", "server.py"],
  ["server.py", "wsgi.py"],
  ["wsgi.py", "asgi.py"],
  ["asgi.py", "index.py"],
  ["index.py", "start.py"],
  ["start.py", "src/main.py"],
  ["src/start.py", "app/main.py"],
  ["app/start.py", "api/main.py"],
  ["api/start.py", "backend/main.py"],
  ["backend/start.py", "another.py"],
  ["another.py", "app/__init__.py"],
  ["app/__init__.py", "src/__init__.py"],
  ["src/__init__.py", "api/__init__.py"],
  ["api/__init__.py", "shop/main.py"],
])("an application in %s is taken before one in %s", (first, second) => {
  const target = first.replace(/(\/__init__)?\.py$/, "").replaceAll("/", ".");
  expect(startWith("fastapi", { [second]: fastapi, [first]: fastapi })).toBe(uvicorn(`${target}:app`));
});

test.each(["setup.py", "conftest.py", "test_main.py", "main_test.py", "README.md"])(
  "an application in %s is not the app's",
  (file) => {
    expect(startWith("fastapi", { ...elsewhere, [file]: fastapi })).toBe(uvicorn("shop.main:app"));
  },
);

test("a name that ends like a tool's is a module like any other", () => {
  expect(startWith("fastapi", { "my_setup.py": fastapi })).toBe(uvicorn("my_setup:app"));
});

test.each(["test", "tests", "docs", "example", "examples", "scripts", "migrations", "node_modules"])(
  "an application in the folder %s is not the app's",
  (folder) => {
    expect(startWith("fastapi", { ...elsewhere, [`${folder}/main.py`]: fastapi })).toBe(uvicorn("shop.main:app"));
    expect(startWith("fastapi", { ...elsewhere, [`src/${folder}/main.py`]: fastapi })).toBe(uvicorn("shop.main:app"));
  },
);

test.each(["__init__", "main", "app", "server", "wsgi", "asgi"])("the only package with a %s.py is served", (name) => {
  const target = name === "__init__" ? "shop" : `shop.${name}`;
  expect(startWith("fastapi", { [`shop/${name}.py`]: fastapi })).toBe(uvicorn(`${target}:app`));
  expect(startWith("fastapi", { [`server/shop/${name}.py`]: `from server.shop import x\n${fastapi}` })).toBe(
    uvicorn(`server.${target}:app`),
  );
  const [deep, two] = [{ [`a/b/shop/${name}.py`]: fastapi }, { [`shop/${name}.py`]: fastapi, "cart/main.py": fastapi }];
  expect(startWith("fastapi", { ...deep, "tool.py": "" })).toBe("python tool.py");
  expect(startWith("fastapi", { ...two, "tool.py": "" })).toBe("python tool.py");
  const backup = { [`cart/${name}.py.orig`]: fastapi, [`shop/${name}.py`]: fastapi };
  expect(startWith("fastapi", backup)).toBe(uvicorn(`${target}:app`));
});

test.each([
  ["fastapi", "asgi"],
  ["starlette", "asgi"],
  ["quart", "asgi"],
  ["litestar", "asgi"],
  ["sanic", "asgi"],
  ["blacksheep", "asgi"],
  ["python-fasthtml", "asgi"],
  ["shiny", "asgi"],
  ["flask", "wsgi"],
  ["connexion", "wsgi"],
  ["apiflask", "wsgi"],
  ["bottle", "wsgi"],
  ["dash", "wsgi"],
  ["falcon", "wsgi"],
  ["pyramid", "wsgi"],
  ["requests", "none"],
])("what a function makes in an app with %s is served by %s", (name, kind) => {
  const start = { asgi: uvicorn("main:app"), wsgi: gunicorn("main:app"), none: "python main.py" }[kind];
  expect(startWith(name, { "main.py": "from shop import create_app\napp = create_app()\n" })).toBe(start);
  const packaged = { asgi: uvicorn("shop:app"), wsgi: gunicorn("shop:app"), none: "no_start_command" }[kind];
  expect(startWith(name, { "shop/__init__.py": "app = create_app()\n" })).toContain(packaged);
});

test.each([
  ["site  : Flask  =  shop.core.createapp  (debug)", "site"],
  ["site = makeserver_v2(1)", "site"],
  ["site = get_application()", "site"],
  ["site = init_app()", "site"],
  ["def run():\n    site = create_app()", undefined],
  ["site = created()", undefined],
  ["def  create_app  (  config  : Config  = None):\n    pass", "'create_app()'"],
  ["def make_app ( ):\n    pass", "'make_app()'"],
  ["def make_app(*, debug):\n    pass", "'make_app()'"],
  ["def make_app(config=None):\n    pass", "'make_app()'"],
  ["def make_app(config):\n    pass", undefined],
  ["class A:\n    def create_app():\n        pass", undefined],
])("an application that a function makes: %j", (text, name) => {
  const target = name?.startsWith("'") ? `'main:${name.slice(1)}` : `main:${name}`;
  const start = startWith("flask", { "main.py": `import os\n${text}\n` });
  expect(start).toBe(name === undefined ? "python main.py" : gunicorn(target));
  const packaged = startWith("flask", { "shop/main.py": `import os\n${text}\n` });
  if (name === undefined) expect(packaged).toContain("no_start_command");
  else expect(packaged).toBe(gunicorn(target.replace("main:", "shop.main:")));
});

test.each([
  ["from  shop.web  import  site, app  # the server's", "app"],
  ["from shop import app", "app"],
  ["application  = shop", "application"],
  ["app, socket = shop", "app"],
  ["my_app = shop", undefined],
  ["application()", undefined],
])("an application that wsgi.py takes from elsewhere: %j", (text, name) => {
  const start = startWith("flask", { "wsgi.py": `import os\n${text}\n`, "main.py": "" });
  expect(start).toBe(name === undefined ? "python main.py" : gunicorn(`wsgi:${name}`));
  expect(startWith("flask", { "other.py": `${text}\n`, "main.py": "" })).toBe("python main.py");
});

test("an application of Sanic is served only where Sanic is installed", () => {
  const files = { "main.py": "from sanic import Sanic\napp = Sanic('x')\n" };
  expect(startWith("requests", files)).toBe("python main.py");
  expect(startWith("sanic", files)).toBe("sanic main:app --host 0.0.0.0 --port $PORT");
  expect(startWith("sanic", { "shop/__init__.py": files["main.py"] })).toContain("sanic shop:app");
  expect(startWith("requests", { "shop/__init__.py": files["main.py"] })).toContain("no_start_command");
  const bare = { "backend/main.py": `import db\n${files["main.py"]}`, "backend/db.py": "" };
  expect(startWith("sanic", bare)).toBe("PYTHONPATH=backend sanic main:app --host 0.0.0.0 --port $PORT");
});

test.each<[string, string, boolean, Files?]>([
  ["import  db", "db.py", true],
  ["from  db  import x", "db/models.py", true],
  ["if True:\n    import  db", "db.py", true],
  ["import os\n\timport db", "db.py", true],
  ["import db", "db.sql", false],
  ["import db", "db/schema.sql", false],
  ["s = 'import db'", "db.py", false],
  ["import json", "db.py", false],
  ["import os\nfrom backend.db import x\nimport db", "db.py", false],
  ["import backend.db\nimport db", "db.py", false],
  ["if True:\n\tfrom  .  import x\nimport db", "db.py", false],
  ["x = 'from .'\nimport db", "db.py", true],
  ["import db", "main_db.py", false, { "db.py": "" }],
  ["import db", "main_db.py", false, { "sibling/db.py": "" }],
  ["from . import x\nimport db", "db.py", false],
  ["import db", "main_db.py", false, { "db/__init__.py": "", "web/db.py": "" }],
])("a module that says %j beside %s: its folder is on the import path: %s", (text, beside, isOnPath, files = {}) => {
  const start = startWith("fastapi", { "backend/main.py": `${text}\n${fastapi}`, [`backend/${beside}`]: "", ...files });
  expect(start).toBe(
    isOnPath ? uvicorn("main:app").replace("--host", "--app-dir backend --host") : uvicorn("backend.main:app"),
  );
});

test.each<[string, Files, string]>([
  [
    "a package in src, imported by its own name",
    { "src/shop/main.py": "from shop.db import x\nimport db\n", "src/shop/db.py": "" },
    "src shop.main",
  ],
  [
    "a package in src, imported with src",
    { "src/shop/main.py": "from src.shop import db\nimport db\n", "src/shop/db.py": "" },
    " src.shop.main",
  ],
  ["a package in a package", { "src/shop/main.py": "", "src/__init__.py": "" }, " src.shop.main"],
  ["a module of src that imports from it", { "src/shop/main.py": "import os\nfrom src import x\n" }, " src.shop.main"],
  [
    "a folder whose modules are imported by bare names",
    { "src/shop/main.py": "import db\n", "src/shop/db.py": "" },
    "src/shop main",
  ],
  ["a package whose __init__.py has the application", { "shop/__init__.py": "import db\n", "shop/db.py": "" }, " shop"],
  ["a folder with a name of one letter", { "a/main.py": "import db\n", "a/db.py": "" }, "a main"],
])("the folder on the import path of %s", (_, files, expected) => {
  const [path = ""] = Object.keys(files);
  const [folder, target] = expected.split(" ");
  const start = startWith("fastapi", { ...files, [path]: `${files[path]}${fastapi}` });
  expect(start).toBe(
    folder === "" ? uvicorn(`${target}:app`) : uvicorn(`${target}:app`).replace("--host", `--app-dir ${folder} --host`),
  );
});

const manage = (settings: string) =>
  `import os\nfrom django.core.management import execute_from_command_line\nos.environ.setdefault( "DJANGO_SETTINGS_MODULE"  ,  "${settings}" )\nexecute_from_command_line()\n`;
const named = (target: string) => `WSGI_APPLICATION = "${target}"\n`;
const served = gunicorn("shop.web:site");

test.each<[string, Files, string]>([
  ["a module of any name", { "manage.py": manage("shop.conf"), "shop/conf.py": named("shop.web.site") }, served],
  [
    "a module before those that are called settings",
    {
      "manage.py": manage("shop.conf"),
      "shop/conf.py": named("shop.web.site"),
      "a/settings.py": named("a.web.site"),
      "b/settings/base.py": named("b.web.site"),
    },
    served,
  ],
  [
    "a package",
    { "manage.py": manage("shop.conf"), "shop/conf/base.py": named("shop.web.site"), "a/settings.py": named("a.b.c") },
    served,
  ],
  [
    "a module of a folder called settings, with the modules beside it",
    {
      "manage.py": manage("shop.settings.prod"),
      "shop/settings/base.py": named("shop.web.site"),
      "shop/settings/prod.py": "from .base import *\n",
      "a/settings.py": named("a.b.c"),
    },
    served,
  ],
  [
    "a module of another folder, without the modules beside it",
    {
      "manage.py": manage("shop.conf.prod"),
      "shop/conf/base.py": named("a.b.c"),
      "shop/conf/prod.py": "DEBUG = False\n",
      "shop/settings.py": named("shop.web.site"),
    },
    served,
  ],
  [
    "a name that only begins like the module's",
    { "manage.py": manage("shop.conf"), "shop/config.py": named("a.b.c"), "shop/settings.py": named("shop.web.site") },
    served,
  ],
  [
    "a module in the folder of manage.py",
    { "site1/manage.py": manage("shop.conf"), "site1/shop/conf.py": named("shop.web.site") },
    "gunicorn --chdir site1 --bind 0.0.0.0:$PORT shop.web:site",
  ],
  [
    "the second of two modules",
    { "manage.py": "import django\n", "a/settings.py": "DEBUG = 1\n", "b/settings_prod.py": named("shop.web.site") },
    served,
  ],
  ["a module in the root", { "manage.py": "import django\n", "settings.py": named("shop.web.site") }, served],
  ["a package called settings", { "manage.py": "import django\n", "b/settings/x.py": named("shop.web.site") }, served],
  ["an indented line", { "manage.py": "import django\n", "settings.py": `if 1:\n  ${named("shop.web.site")}` }, served],
  [
    "no other value",
    { "manage.py": "import django\n", "settings.py": `OLD_${named("a.b.c")}`, "shop/wsgi.py": "" },
    gunicorn("shop.wsgi:application"),
  ],
  [
    "the nearest wsgi.py before others",
    { "manage.py": "import django\n", "shop/wsgi.py": "", "z/b/wsgi.py": "", "shop/settings.py": "" },
    gunicorn("shop.wsgi:application"),
  ],
  [
    "its own settings, not those of another folder",
    { "web/manage.py": "import django\n", "web/wsgi.py": "", "other/settings.py": named("a.b.c") },
    "gunicorn --chdir web --bind 0.0.0.0:$PORT wsgi:application",
  ],
  [
    "the folder of manage.py, not of a copy",
    { "web/manage.py": "import django\n", "web/wsgi.py": "", "old/manage.py.txt": "import django\n" },
    "gunicorn --chdir web --bind 0.0.0.0:$PORT wsgi:application",
  ],
  [
    "the nearest wsgi.py",
    { "manage.py": "import django\n", "a/b/wsgi.py": "", "shop/wsgi.py": "", "shop/settings.py": "" },
    gunicorn("shop.wsgi:application"),
  ],
  ["wsgi.py in the root", { "manage.py": "import django\n", "wsgi.py": "" }, gunicorn("wsgi:application")],
  [
    "asgi.py in a folder",
    { "web/manage.py": "import django\n", "web/shop/asgi.py": "" },
    "uvicorn --app-dir web --host 0.0.0.0 --port $PORT shop.asgi:application",
  ],
  [
    "ASGI_APPLICATION",
    { "manage.py": "import django\n", "settings.py": 'ASGI_APPLICATION  =  "shop.live.socket"\n' },
    uvicorn("shop.live:socket"),
  ],
  [
    "a folder with a space",
    { "my site/manage.py": "import django\n", "my site/wsgi.py": "" },
    "gunicorn --chdir 'my site' --bind 0.0.0.0:$PORT wsgi:application",
  ],
  [
    "the nearest of several folders",
    {
      "web/manage.py": "import django\n",
      "web/wsgi.py": "",
      "old/web/manage.py": "import django\n",
      "old/web/wsgi.py": "",
    },
    "gunicorn --chdir web --bind 0.0.0.0:$PORT wsgi:application",
  ],
  [
    "a folder in a folder",
    { "code/web/manage.py": "import django\n", "code/web/wsgi.py": "", "notes/manage.py": "" },
    "gunicorn --chdir code/web --bind 0.0.0.0:$PORT wsgi:application",
  ],
  ["a manage.py of something else", { "manage.py": "import flask\n", "wsgi.py": "", "main.py": "" }, "python main.py"],
  [
    "two folders alike",
    {
      "one/manage.py": "import django\n",
      "one/wsgi.py": "",
      "two/manage.py": "import django\n",
      "two/wsgi.py": "",
      "main.py": "",
    },
    "python main.py",
  ],
  ["a folder too deep", { "a/b/c/manage.py": "import django\n", "a/b/c/wsgi.py": "", "main.py": "" }, "python main.py"],
  ["no application", { "manage.py": "import django\n", "settings.py": "", "main.py": "" }, "python main.py"],
  [
    "a wsgi.py that a package brings",
    { "manage.py": "import django\n", "vendor/wsgi.py": "", "main.py": "" },
    "python main.py",
  ],
])("the application of Django by %s", (_, files, start) => {
  expect(startWith("django\ngunicorn\nuvicorn", files)).toBe(start);
});

test.each([
  ["STATIC_ROOT = 'x'", true],
  ["if 1:\n    STATIC_ROOT  = 'x'", true],
  ["STATIC_ROOT: str = 'x'", true],
  ["STATIC_ROOT='x'", true],
  ["MY_STATIC_ROOT = 'x'", false],
  ["if 1: x = STATIC_ROOT == 'x'", false],
  ["print(settings.STATIC_ROOT)", false],
])("whether %j lets static files be collected", (line, isCollected) => {
  const settings = { "manage.py": "import django\n", "a/settings.py": "", "b/settings.py": `import os\n${line}\n` };
  const { plan } = analysisOf({ "requirements.txt": "django", "b/wsgi.py": "", ...settings });
  expect(plan.build).toBe(isCollected ? "python manage.py collectstatic --noinput" : null);
  const nested = Object.fromEntries(Object.entries(settings).map(([path, text]) => [`my web/${path}`, text]));
  const inFolder = analysisOf({ "requirements.txt": "django", "my web/b/wsgi.py": "", ...nested }).plan;
  expect(inFolder.build).toBe(isCollected ? "python 'my web/manage.py' collectstatic --noinput" : null);
});

test.each([
  ["cart/migrations/0001_initial.py", true],
  ["migrations/0002_more.py", true],
  ["cart/migrations/0001_initial.pyc", false],
  ["cart/migrations/__init__.py", false],
  ["cart/old_migrations/0001_initial.py", false],
])("whether %s is a migration that is not run", (path, isSaid) => {
  const { suggestions } = analysisOf({
    ...{ "requirements.txt": "django\ngunicorn", "wsgi.py": "", [path]: "" },
    "manage.py": manage("settings"),
  });
  const said = isSaid ? [{ code: "migrations_not_run", file: "manage.py", line: 2 }] : [];
  expect(suggestions.filter(({ code }) => code === "migrations_not_run")).toMatchObject(said);
});

test("the file that declares a start is named by the suggestions on it", () => {
  const files = {
    "requirements.txt": "django",
    "shop/wsgi.py": "",
    "web/manage.py": "import django\n",
    "web/wsgi.py": "",
  };
  expect(analysisOf(files).suggestions).toMatchObject([{ code: "server_added", file: "web/manage.py", line: 1 }]);
  const root = { "requirements.txt": "django", "wsgi.py": "", "manage.py": "import django\n" };
  expect(analysisOf(root).suggestions).toMatchObject([{ code: "server_added", file: "manage.py", line: 1 }]);
  const entrypoint = 'old-entrypoint = "x"\n[tool.fastapi]\n  entrypoint  = "shop.api:app"\n';
  const declared = analysisOf({ "requirements.txt": "fastapi", "pyproject.toml": entrypoint, "shop/api.py": fastapi });
  expect(declared.suggestions).toMatchObject([{ code: "server_added", file: "pyproject.toml", line: 3 }]);
  expect(declared.plan).toMatchObject({ start: uvicorn("shop.api:app"), addedPackages: ["uvicorn"] });
});

test.each(["x shop:app", "shop:app x", "shop"])("FastAPI's entrypoint %j is not one", (entrypoint) => {
  const files = { "pyproject.toml": `[tool.fastapi]\nentrypoint = "${entrypoint}"\n`, "main.py": fastapi };
  expect(startWith("fastapi", files)).toBe(uvicorn("main:app"));
});

test("a missing start names the folder of the app and its files", () => {
  expect(startWith("requests", { "README.md": "", "lib/a.py": "" })).toContain(
    "No start command was found for the Python app in the archive: no Procfile",
  );
  const { message } = errorOf({ "README.md": "", "api/requirements.txt": "requests", "api/lib/a.py": "" });
  expect(message).toContain("No start command was found for the Python app in api: no Procfile");
});

test("the application of a package is taken before a script with the project's name", () => {
  const scripts = '[project]\nname = "shop"\ndependencies = ["fastapi"]\n[project.scripts]\nshop = "shop.cli:main"\n';
  expect(startWith("fastapi", { "pyproject.toml": scripts, "shop/main.py": fastapi })).toBe(uvicorn("shop.main:app"));
  expect(startWith("fastapi", { "pyproject.toml": scripts, "shop/cli.py": "" })).toContain("shop.cli");
});

test("several sources in the root are not started by guessing, and a script called serve is", () => {
  expect(startWith("requests", { "one.py": "x = 1", "two.py": "x = 1" })).toContain("no_start_command");
  const scripts = '[project]\nname = "a"\n[project.scripts]\nserve = "a.cli:main"\n';
  expect(startWith("requests", { "pyproject.toml": scripts, "one.py": "", "two.py": "" })).toContain("a.cli");
});

test("a package's function is called by uvicorn as a factory, below a folder too", () => {
  const text = "import db\ndef create_app():\n    return FastAPI()\n";
  expect(startWith("fastapi", { "backend/main.py": text, "backend/db.py": "" })).toBe(
    "uvicorn --factory --app-dir backend --host 0.0.0.0 --port $PORT main:create_app",
  );
  expect(startWith("flask", { "backend/main.py": text, "backend/db.py": "" })).toBe(
    "gunicorn --chdir backend --bind 0.0.0.0:$PORT 'main:create_app()'",
  );
});
