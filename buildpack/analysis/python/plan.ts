import type { Settings } from "../../../api/stored-settings.ts";
import type { App } from "../app.ts";
import { type Diagnostics, suggest } from "../diagnostics.ts";
import { tomlManifest } from "../manifests.ts";
import { type Plan, runtimeSchema } from "../plan.ts";
import { containerPort, type FixedPort, portInCommand, serverEnvironment } from "../port.ts";
import { planOrNothing, quietIf, setCommand } from "../set-commands.ts";
import { suggestDevelopmentStart } from "../suggestions/development-start.ts";
import { suggestEnvironmentFile } from "../suggestions/env-file.ts";
import { suggestLoopback } from "../suggestions/loopback.ts";
import { dependsOn, pythonDependencies } from "./dependencies.ts";
import { installsItself, namesIndex, pythonInstall } from "./install.ts";
import { pythonListenPort, suggestDebugOff } from "./listen.ts";
import { pythonLoopback } from "./loopback.ts";
import { pythonPackageManager } from "./package-manager.ts";
import { withoutRunner } from "./runner.ts";
import { type PythonStart, pythonStart, releaseLine } from "./start.ts";
import { refuseMissingModule } from "./start-file.ts";
import { suggestUndeclaredPackages } from "./undeclared.ts";
import { pythonVersion } from "./version.ts";

/** The plan of a Python app; throws `NoPlan` when there is none. */
export function pythonPlan(app: App, settings: Settings, diagnostics: Diagnostics): Plan {
  const pyproject = tomlManifest(app, "pyproject.toml");
  const requirements = app.has("requirements.txt");
  if (!requirements) tomlManifest(app, "Pipfile");
  const version = pythonVersion(app, pyproject, diagnostics);
  const runtime = runtimeSchema.parse(`python${version}`);
  diagnostics.runtime = runtime;
  const packages = pythonPackageManager(app, pyproject, diagnostics);
  const dependencies = pythonDependencies(app, pyproject, packages);
  const { startCommand, installCommand } = settings;
  const detect = () => pythonStart(app, pyproject, dependencies, installsItself(app, pyproject, packages));
  const start =
    startCommand === null ? detect() : setStart(withoutRunner(app, startCommand, pyproject), planOrNothing(detect));
  refuseMissingModule(app, start, dependencies);
  const install = pythonInstall(app, pyproject, packages, quietIf(installCommand, diagnostics));
  const reported = quietIf(startCommand, diagnostics);
  suggestDevelopmentStart(app, start, reported);
  suggestDebugOff(app, start.line, reported);
  suggestLoopback(app, start, pythonLoopback(app, start.line), reported);
  suggestEnvironmentFile(app, start, reported);
  suggestUndeclaredPackages(app, start, packages, new Set([...dependencies, start.server ?? ""]), reported);
  suggestMigrations(app, start, quietIf(settings.releaseCommand, diagnostics));
  const added = installCommand?.trim() === "" ? [] : addedPackages(app, start, dependencies, diagnostics);
  const together = installCommand === null && added.length > 0 && namesIndex(app, packages);
  const port = containerPort(app, fixedPort(app, start), reported);
  const command = setCommand(installCommand, together ? `${install.command} ${added.join(" ")}` : install.command);
  return {
    runtime,
    language: "python",
    version,
    packageManager: { name: packages.name, version: null },
    install: command,
    installsNothing: command === null,
    build: setCommand(settings.buildCommand, start.build),
    prestart: null,
    start: start.line,
    port,
    root: app.root,
    static: null,
    // A set command may read any file.
    manifests: installCommand ? null : install.manifests,
    addedPackages: together ? [] : added,
    systemPackages: systemPackages(dependencies),
    buildEnv: {},
    env: { ...serverEnvironment(port), ...toolEnvironment(port) },
  };
}

/** The start by a set command; what the detected start says about the build stays. */
function setStart(line: string, detected: PythonStart | undefined): PythonStart {
  const { build = null, django } = detected ?? {};
  return { line, build, django, server: null, file: "pyproject.toml", declaredAt: 1 };
}

function fixedPort(app: App, start: PythonStart): FixedPort | undefined {
  const inCommand = portInCommand(start.line);
  if (inCommand === undefined) return pythonListenPort(app, start.line);
  return { ...inCommand, file: start.file, line: start.declaredAt };
}

/** Servers that read their address from their own variables. */
function toolEnvironment(port: number): Record<string, string> {
  return {
    UVICORN_HOST: "0.0.0.0",
    UVICORN_PORT: String(port),
    FLASK_RUN_HOST: "0.0.0.0",
    FLASK_RUN_PORT: String(port),
    STREAMLIT_SERVER_ADDRESS: "0.0.0.0",
    STREAMLIT_SERVER_PORT: String(port),
    GRADIO_SERVER_NAME: "0.0.0.0",
    GRADIO_SERVER_PORT: String(port),
    CHAINLIT_HOST: "0.0.0.0",
    CHAINLIT_PORT: String(port),
    LITESTAR_HOST: "0.0.0.0",
    LITESTAR_PORT: String(port),
    GRANIAN_HOST: "0.0.0.0",
    GRANIAN_PORT: String(port),
  };
}

function addedPackages(
  app: App,
  start: PythonStart,
  dependencies: ReadonlySet<string>,
  diagnostics: Diagnostics,
): string[] {
  const { server } = start;
  if (server === null || dependsOn(dependencies, server)) return [];
  suggest(diagnostics, app, {
    code: "server_added",
    message: `The app is served by ${server}, which is not one of its dependencies, so its newest version is added. Add ${server} to the dependencies.`,
    file: start.file,
    line: start.declaredAt,
  });
  return [server];
}

function suggestMigrations(app: App, start: PythonStart, diagnostics: Diagnostics): void {
  const release = releaseLine(app);
  if (release !== undefined) {
    suggest(diagnostics, app, {
      code: "migrations_not_run",
      message:
        "The release: line of the Procfile is not run by itself, because a rollback could not undo it. Set releaseCommand in slipway.json to run it before each new version starts.",
      file: "Procfile",
      line: release.line,
    });
  } else if (start.django?.migrations !== undefined && !/\bmigrate\b/.test(start.line)) {
    suggest(diagnostics, app, {
      code: "migrations_not_run",
      message:
        "Migrations are not run by themselves, because a rollback could not undo them. Set releaseCommand in slipway.json, as in python manage.py migrate, to run them before each new version starts.",
      file: start.django.migrations.file,
      line: start.django.migrations.line,
    });
  }
}

/** Shared libraries that these packages load at run time and that the slim image does not include. */
const LIBRARIES: readonly [string, readonly string[]][] = [
  ["psycopg2", ["libpq5"]],
  ["psycopg", ["libpq5"]],
  ["mysqlclient", ["libmariadb3"]],
  ["opencv-python", ["libgl1", "libglib2.0-0"]],
  ["weasyprint", ["libpango-1.0-0", "libpangoft2-1.0-0", "libharfbuzz-subset0"]],
  ["python-magic", ["libmagic1"]],
  ["pyodbc", ["unixodbc"]],
  ["pydub", ["ffmpeg"]],
];

function systemPackages(dependencies: ReadonlySet<string>): string[] {
  return [...new Set(LIBRARIES.flatMap(([name, libraries]) => (dependencies.has(name) ? libraries : [])))];
}
