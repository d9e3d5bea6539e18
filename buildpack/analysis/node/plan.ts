import type { Settings } from "../../../api/stored-settings.ts";
import type { App } from "../app.ts";
import { commandLengthMax, commandsOf, invocationOf, tooLong } from "../command.ts";
import { type Diagnostics, lineOfKey, quoted, suggest } from "../diagnostics.ts";
import { packageJson } from "../manifests.ts";
import { type Plan, runtimeSchema } from "../plan.ts";
import { containerPort, type FixedPort, portDefault, portInCommand, serverEnvironment } from "../port.ts";
import { planOrNothing, quietIf, setCommand } from "../set-commands.ts";
import { shellWord, staticServerCommand } from "../static-command.ts";
import { suggestDevelopmentStart } from "../suggestions/development-start.ts";
import { suggestEnvironmentFile } from "../suggestions/env-file.ts";
import { suggestFunctions } from "../suggestions/functions.ts";
import { suggestLoopback } from "../suggestions/loopback.ts";
import { entriesAt, stringAt, type Table } from "../values.ts";
import { type Dependencies, dependenciesOf } from "./dependencies.ts";
import { managerSettings, pnpmInstallFlag } from "./engines.ts";
import { installCommand, installManifests, installsNothing } from "./install.ts";
import { legacyHashes } from "./legacy-hashes.ts";
import { nodeListenPort } from "./listen.ts";
import { nodeLoopback } from "./loopback.ts";
import { nodePackageManager } from "./package-manager.ts";
import { resolveCommand } from "./scripts.ts";
import { type NodeStart, nodeStart } from "./start.ts";
import { refuseMissingFile } from "./start-file.ts";
import { suggestUndeclaredPackages } from "./undeclared.ts";
import { nodeVersion } from "./version.ts";

/** The plan of a Node.js app; throws `NoPlan` when there is none. */
export function nodePlan(app: App, settings: Settings, diagnostics: Diagnostics): Plan {
  const manifest = packageJson(app);
  const dependencies = dependenciesOf(manifest);
  const version = nodeVersion(app, manifest, diagnostics);
  const runtime = runtimeSchema.parse(`nodejs${version}.x`);
  diagnostics.runtime = runtime;
  refuseLongScripts(app, manifest);
  const packages = nodePackageManager(app, manifest, diagnostics);
  const detect = () => nodeStart(app, manifest, dependencies, packages.manager.name === "bun");
  const start =
    settings.startCommand === null
      ? detect()
      : setStart(settings.startCommand, manifest, dependencies, planOrNothing(detect));
  const detected = installCommand(app, manifest, dependencies, packages, quietIf(settings.installCommand, diagnostics));
  const install = setCommand(settings.installCommand, detected);
  const script = start.buildScript ?? buildScriptOf(manifest);
  const build = setCommand(
    settings.buildCommand,
    script === null ? start.build : `${packages.manager.name} run ${shellWord(script)}`,
  );
  const line = start.static === null ? start.line : staticServerCommand(start.static);
  for (const advice of start.advice) suggest(diagnostics, app, { ...advice, file: start.file, line: start.declaredAt });
  if (start.static !== null) suggestFunctions(app, diagnostics);
  else if (settings.startCommand === null) {
    refuseMissingFile(app, manifest, start, build);
    suggestDevelopmentStart(app, start, diagnostics);
    suggestLoopback(app, start, nodeLoopback(app, start.line), diagnostics);
    suggestEnvironmentFile(app, start, diagnostics);
    suggestUndeclaredPackages(app, manifest, start.line, packages.manager.name, diagnostics);
  }
  const reported = quietIf(settings.startCommand, diagnostics);
  const port = start.static === null ? containerPort(app, fixedPort(app, start), reported) : portDefault;
  return {
    runtime,
    language: "nodejs",
    version,
    packageManager: packages.manager,
    install: install === null || install !== detected ? install : install + pnpmInstallFlag(app, packages.manager),
    installsNothing: settings.installCommand === null ? installsNothing(app, manifest, dependencies) : install === null,
    build,
    prestart: start.before.length === 0 ? null : start.before.join(" && "),
    start: line,
    port,
    root: app.root,
    static: start.static,
    // A set command may read any file.
    manifests: settings.installCommand ? null : installManifests(app, manifest, dependencies),
    addedPackages: [],
    systemPackages: dependencies.has("prisma") || dependencies.has("@prisma/client") ? ["openssl"] : [],
    buildEnv: {
      ...legacyHashes(dependencies),
      ...start.buildEnv,
      ...managerSettings(app, manifest, packages.manager),
      // The browser of Cypress, which only tests need, would be downloaded with each install.
      ...(dependencies.has("cypress") && { CYPRESS_INSTALL_BINARY: "0" }),
    },
    // fastify-cli listens on localhost unless it gets an address or detects Docker.
    env: { ...serverEnvironment(port), ...(dependencies.has("fastify-cli") && { FASTIFY_ADDRESS: "0.0.0.0" }) },
  };
}

/** The start by a set command; what the detected start says about the build stays. */
function setStart(
  command: string,
  manifest: Table | undefined,
  dependencies: Dependencies,
  detected: NodeStart | undefined,
): NodeStart {
  return {
    ...resolveCommand(command, manifest, new Set(dependencies.keys())),
    static: null,
    build: detected?.build ?? null,
    ...(detected?.buildScript !== undefined && { buildScript: detected.buildScript }),
    buildEnv: detected?.buildEnv ?? {},
    file: "package.json",
    declaredAt: 1,
    advice: [],
  };
}

const PLATFORM_BUILDS = ["heroku-postbuild", "gcp-build"];
/** Matches an installation of packages, as in `npm install --prefix client`. */
const INSTALLS = /\b(?:npm|pnpm|yarn|bun)\b[^&|;]*\b(?:install|ci|i)\b/;

/** The script that builds the app: `build`, or one that other platforms run in its place if there is no `build`, or if only that one installs what it builds. */
function buildScriptOf(manifest: Table | undefined): string | null {
  const text = (name: string) => stringAt(manifest, "scripts", name);
  const platform = PLATFORM_BUILDS.find((name) => text(name) !== undefined);
  const build = text("build");
  if (build === undefined) return platform ?? null;
  if (platform === undefined || INSTALLS.test(build)) return "build";
  return INSTALLS.test(text(platform) ?? "") ? platform : "build";
}

function refuseLongScripts(app: App, manifest: Table | undefined): void {
  for (const [name, script] of entriesAt(manifest, "scripts")) {
    if (typeof script !== "string" || script.length <= commandLengthMax) continue;
    const line = lineOfKey(app.text("package.json"), ["scripts", name]);
    throw tooLong(`The script ${quoted(name)} of ${app.shown("package.json")} (line ${line})`, script);
  }
}

/** The ports of programs that do not read PORT in some of their versions. */
const OWN_PORTS = new Map([
  ["micro", 3000],
  ["json-server", 3000],
]);

/** A port in the command takes precedence over the program's own port, and that over one in the sources. */
function fixedPort(app: App, start: NodeStart): FixedPort | undefined {
  const inCommand = portInCommand(start.line);
  const last = commandsOf(start.line).at(-1)?.text ?? "";
  const own = /\$\{?PORT\b/.test(last) ? undefined : OWN_PORTS.get(invocationOf(last).program);
  if (inCommand === undefined && own !== undefined) return { port: own, file: start.file, line: start.declaredAt };
  if (inCommand === undefined) return nodeListenPort(app, start.line);
  return { ...inCommand, file: start.file, line: start.declaredAt };
}
