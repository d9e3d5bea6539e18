import type { App } from "../app.ts";
import { commandsOf, invocationOf } from "../command.ts";
import { type Diagnostics, lineAt, suggest } from "../diagnostics.ts";
import type { PythonPackages } from "./package-manager.ts";
import { pythonEntry, reachable } from "./sources.ts";

/**
 * The PyPI packages that provide a module, the usual one first, for modules that apps import directly. For other modules no
 * suggestion is made, because a wrong package name would be harmful.
 */
const PROVIDERS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    aiohttp: ["aiohttp"],
    alembic: ["alembic"],
    anthropic: ["anthropic"],
    apscheduler: ["apscheduler"],
    asyncpg: ["asyncpg"],
    bcrypt: ["bcrypt"],
    boto3: ["boto3"],
    bottle: ["bottle"],
    bs4: ["beautifulsoup4", "bs4"],
    celery: ["celery"],
    chainlit: ["chainlit"],
    cv2: ["opencv-python-headless", "opencv-python", "opencv-contrib-python", "opencv-contrib-python-headless"],
    dash: ["dash"],
    decouple: ["python-decouple"],
    discord: ["discord-py", "discord", "py-cord", "nextcord"],
    django: ["django"],
    dotenv: ["python-dotenv"],
    environ: ["django-environ"],
    falcon: ["falcon"],
    fastapi: ["fastapi"],
    flask: ["flask", "connexion", "apiflask", "dash"],
    flask_cors: ["flask-cors"],
    flask_login: ["flask-login"],
    flask_migrate: ["flask-migrate"],
    flask_socketio: ["flask-socketio"],
    flask_sqlalchemy: ["flask-sqlalchemy", "flask-migrate"],
    flask_wtf: ["flask-wtf"],
    gradio: ["gradio"],
    httpx: ["httpx"],
    joblib: ["joblib"],
    jose: ["python-jose"],
    jwt: ["pyjwt", "jwt"],
    langchain: ["langchain"],
    litestar: ["litestar"],
    markdown: ["markdown"],
    matplotlib: ["matplotlib", "seaborn"],
    MySQLdb: ["mysqlclient"],
    nicegui: ["nicegui"],
    openai: ["openai"],
    passlib: ["passlib"],
    peewee: ["peewee"],
    PIL: ["pillow"],
    plotly: ["plotly", "dash"],
    psycopg: ["psycopg"],
    psycopg2: ["psycopg2-binary", "psycopg2"],
    pymongo: ["pymongo", "motor", "mongoengine", "flask-pymongo"],
    pymysql: ["pymysql"],
    quart: ["quart"],
    redis: ["redis", "django-redis", "celery[redis]"],
    rest_framework: ["djangorestframework"],
    sanic: ["sanic"],
    scipy: ["scipy", "scikit-learn"],
    sentry_sdk: ["sentry-sdk"],
    sklearn: ["scikit-learn"],
    socketio: ["python-socketio", "flask-socketio", "nicegui", "chainlit"],
    sqlalchemy: ["sqlalchemy", "flask-sqlalchemy", "sqlmodel", "alembic", "advanced-alchemy", "databases"],
    sqlmodel: ["sqlmodel"],
    streamlit: ["streamlit"],
    stripe: ["stripe"],
    telegram: ["python-telegram-bot"],
    tornado: ["tornado", "streamlit"],
    uvicorn: ["uvicorn"],
    whitenoise: ["whitenoise"],
  }),
);

/** Suggests declaring a package that the app imports when it is loaded and no manifest declares. */
export function suggestUndeclaredPackages(
  app: App,
  start: { line: string; file: string },
  packages: PythonPackages,
  installed: ReadonlySet<string>,
  diagnostics: Diagnostics,
): void {
  const entry = entryOf(app, start);
  if (entry === undefined) return;
  const seen = new Set<string>();
  for (const { path, text } of reachable(app, entry)) {
    for (const { 1: module = "", index } of text.matchAll(/^(?:from|import)[ \t]+([A-Za-z_]\w*)/gm)) {
      if (seen.has(module)) continue;
      seen.add(module);
      const providers = PROVIDERS.get(module);
      const [usual] = providers ?? [];
      if (usual === undefined || isLocal(app, entry, module)) continue;
      if (providers?.some((name) => installed.has(name))) continue;
      suggest(diagnostics, app, {
        code: "undeclared_import",
        message: `${app.shown(path)} imports ${module}, which no manifest of the app declares. ${lineToAdd(usual, packages)}`,
        file: path,
        line: lineAt(text, index),
      });
    }
  }
}

function lineToAdd(name: string, { name: manager, file }: PythonPackages): string {
  if (manager !== "pip") return `Run ${manager} ${manager === "pipenv" ? "install" : "add"} ${name}.`;
  return `Add the line "${name}" to ${file === null || file === "setup.py" ? "requirements.txt" : file}.`;
}

const isLocal = (app: App, entry: string, module: string): boolean =>
  ["", "src/", entry.slice(0, entry.lastIndexOf("/") + 1)].some(
    (folder) => app.has(`${folder}${module}.py`) || app.hasFolder(`${folder}${module}`),
  );

/** The file that is loaded first: the file that is run, or the module that a server loads. */
function entryOf(app: App, start: { line: string; file: string }): string | undefined {
  if (start.file.endsWith(".py") && !start.file.endsWith("manage.py")) return start.file;
  const run = pythonEntry(app, start.line);
  if (run !== undefined) return run;
  const { words } = invocationOf(commandsOf(start.line).at(-1)?.text ?? "");
  const module = words.map((word) => /^([A-Za-z_][\w.]*):[A-Za-z_]/.exec(word)?.[1]).find((name) => name !== undefined);
  const path = module?.replaceAll(".", "/");
  return path === undefined ? undefined : [`${path}.py`, `${path}/__init__.py`].find((name) => app.has(name));
}
