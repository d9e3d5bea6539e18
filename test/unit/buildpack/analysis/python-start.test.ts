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
