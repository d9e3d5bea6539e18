import { type App, writtenFiles } from "../app.ts";
import { lineOf } from "../diagnostics.ts";
import { blankPythonComments } from "../source.ts";
import { shellWord } from "../static-command.ts";

/** A Django project: the folder of manage.py, the application to serve, and whether static files are collected. */
export interface DjangoProject {
  /** The folder of manage.py, "" for the root. */
  folder: string;
  /** `project.wsgi:application`, and its interface (WSGI or ASGI). */
  application: string;
  kind: "wsgi" | "asgi";
  collectsStatic: boolean;
  /** The line of manage.py for the suggestion on migrations, undefined if the app has no migrations. */
  migrations: { file: string; line: number } | undefined;
}

/** The Django project of the app's root, or of the only folder with a manage.py; undefined when there is none. */
export function djangoProject(app: App): DjangoProject | undefined {
  const folder = manageFolder(app);
  if (folder === undefined) return undefined;
  const prefix = folder === "" ? "" : `${folder}/`;
  const inside = writtenFiles(app, /\.py$/).filter((path) => path.startsWith(prefix));
  const settings = settingsTexts(app, prefix, inside);
  const served = applicationOf(settings, prefix, inside);
  if (served === undefined) return undefined;
  const manage = `${prefix}manage.py`;
  const migrates = inside.some((path) => /(^|\/)migrations\/\d{4}_\w+\.py$/.test(path));
  return {
    folder,
    ...served,
    collectsStatic: settings.some((text) => /^[ \t]*STATIC_ROOT\s*(:[^=\n]+)?=(?!=)/m.test(text)),
    migrations: migrates ? { file: manage, line: lineOf(app.text(manage), "execute_from_command_line") } : undefined,
  };
}

function manageFolder(app: App): string | undefined {
  const isDjango = (path: string) => /django|execute_from_command_line/i.test(app.text(path) ?? "");
  if (app.has("manage.py")) return isDjango("manage.py") ? "" : undefined;
  const nested = app.paths.filter((path) => /^[^/.]+(\/[^/.]+)?\/manage\.py$/.test(path) && isDjango(path));
  const nearest = nested.filter(
    (path) => path.split("/").length === Math.min(...nested.map((other) => other.split("/").length)),
  );
  return nearest.length === 1 ? nearest[0]?.replace(/\/manage\.py$/, "") : undefined;
}

/** The settings that manage.py names, with the modules beside them, comments removed. */
function settingsTexts(app: App, prefix: string, inside: readonly string[]): string[] {
  const named = /DJANGO_SETTINGS_MODULE["']\s*,\s*["']([\w.]+)["']/.exec(app.text(`${prefix}manage.py`) ?? "")?.[1];
  const path = named === undefined ? undefined : prefix + named.replaceAll(".", "/");
  const all = inside.filter((file) => /(^|\/)settings[^/]*\.py$|\/settings\//.test(file));
  const folder = path?.slice(0, path.lastIndexOf("/") + 1);
  const beside =
    path === undefined
      ? []
      : inside.filter(
          (file) =>
            file === `${path}.py` ||
            file.startsWith(`${path}/`) ||
            (folder?.endsWith("settings/") === true && file.startsWith(folder)),
        );
  return [...beside, ...all].map((file) => blankPythonComments(app.text(file) ?? ""));
}

function applicationOf(
  settings: readonly string[],
  prefix: string,
  inside: readonly string[],
): { application: string; kind: "wsgi" | "asgi" } | undefined {
  const moduleOf = (path: string) => path.slice(prefix.length, -3).replaceAll("/", ".");
  const declared = (name: string) =>
    settings
      .map((text) => new RegExp(`^[ \\t]*${name}\\s*=\\s*["']([\\w.]+)\\.(\\w+)["']`, "m").exec(text))
      .find((match) => match !== null);
  const wsgi = declared("WSGI_APPLICATION");
  if (wsgi !== undefined) return { application: `${wsgi[1]}:${wsgi[2]}`, kind: "wsgi" };
  const shallowest = (name: string) =>
    inside
      .filter((path) => path.endsWith(`/${name}`) || path === prefix + name)
      .sort((a, b) => a.split("/").length - b.split("/").length)[0];
  for (const kind of ["wsgi", "asgi"] as const) {
    const file = shallowest(`${kind}.py`);
    if (file !== undefined) return { application: `${moduleOf(file)}:application`, kind };
  }
  const asgi = declared("ASGI_APPLICATION");
  return asgi === undefined ? undefined : { application: `${asgi[1]}:${asgi[2]}`, kind: "asgi" };
}

/** The start command of a Django project. */
export function djangoStart(project: DjangoProject): string {
  const folder =
    project.folder === "" ? "" : ` ${project.kind === "wsgi" ? "--chdir" : "--app-dir"} ${shellWord(project.folder)}`;
  return project.kind === "wsgi"
    ? `gunicorn${folder} --bind 0.0.0.0:$PORT ${project.application}`
    : `uvicorn${folder} --host 0.0.0.0 --port $PORT ${project.application}`;
}

/** The build command that collects static files, null when the settings name no STATIC_ROOT. */
export function djangoBuild(project: DjangoProject): string | null {
  if (!project.collectsStatic) return null;
  return `python ${shellWord(project.folder === "" ? "manage.py" : `${project.folder}/manage.py`)} collectstatic --noinput`;
}
