import type { App } from "../app.ts";
import { commandLengthMax, tooLong } from "../command.ts";
import { type Diagnostics, lineOfKey, quoted, suggest } from "../diagnostics.ts";
import { packageJson } from "../manifests.ts";
import { type Plan, runtimeSchema } from "../plan.ts";
import { containerPort, type FixedPort, portDefault, portInCommand, serverEnvironment } from "../port.ts";
import { shellWord, staticServerCommand } from "../static-command.ts";
import { suggestDevelopmentStart } from "../suggestions/development-start.ts";
import { suggestEnvironmentFile } from "../suggestions/env-file.ts";
import { suggestLoopback } from "../suggestions/loopback.ts";
import { entriesAt, stringAt, type Table } from "../values.ts";
import { dependenciesOf } from "./dependencies.ts";
import { managerSettings, pnpmInstallFlag } from "./engines.ts";
import { installCommand, installManifests, installsNothing } from "./install.ts";
import { nodeListenPort } from "./listen.ts";
import { nodeLoopback } from "./loopback.ts";
import { nodePackageManager } from "./package-manager.ts";
import { type NodeStart, nodeStart } from "./start.ts";
import { refuseMissingFile } from "./start-file.ts";
import { suggestUndeclaredPackages } from "./undeclared.ts";
import { nodeVersion } from "./version.ts";

/** The plan of a Node.js app; throws `NoPlan` when there is none. */
export function nodePlan(app: App, diagnostics: Diagnostics): Plan {
  const manifest = packageJson(app);
  const dependencies = dependenciesOf(manifest);
  const version = nodeVersion(app, manifest, diagnostics);
  const runtime = runtimeSchema.parse(`nodejs${version}.x`);
  diagnostics.runtime = runtime;
  refuseLongScripts(app, manifest);
  const packages = nodePackageManager(app, manifest, diagnostics);
  const start = nodeStart(app, manifest, dependencies, packages.manager.name === "bun");
  const install = installCommand(app, manifest, dependencies, packages, diagnostics);
  const script = start.buildScript ?? (stringAt(manifest, "scripts", "build") === undefined ? null : "build");
  const build = script === null ? start.build : `${packages.manager.name} run ${shellWord(script)}`;
  const line = start.static === null ? start.line : staticServerCommand(start.static);
  for (const advice of start.advice) suggest(diagnostics, app, { ...advice, file: start.file, line: start.declaredAt });
  if (start.static === null) {
    refuseMissingFile(app, manifest, start, build);
    suggestDevelopmentStart(app, start, diagnostics);
    suggestLoopback(app, start, nodeLoopback(app, start.line), diagnostics);
    suggestEnvironmentFile(app, start, diagnostics);
    suggestUndeclaredPackages(app, manifest, start.line, packages.manager.name, diagnostics);
  }
  const port = start.static === null ? containerPort(app, fixedPort(app, start), diagnostics) : portDefault;
  return {
    runtime,
    language: "nodejs",
    version,
    packageManager: packages.manager,
    install: install === null ? null : install + pnpmInstallFlag(app, packages.manager),
    installsNothing: installsNothing(app, manifest, dependencies),
    build,
    prestart: start.before.length === 0 ? null : start.before.join(" && "),
    start: line,
    port,
    root: app.root,
    static: start.static,
    manifests: installManifests(app, manifest, dependencies),
    addedPackages: [],
    systemPackages: dependencies.has("prisma") || dependencies.has("@prisma/client") ? ["openssl"] : [],
    buildEnv: { ...start.buildEnv, ...managerSettings(app, manifest, packages.manager) },
    // fastify-cli listens on localhost unless it gets an address or detects Docker.
    env: { ...serverEnvironment(port), ...(dependencies.has("fastify-cli") && { FASTIFY_ADDRESS: "0.0.0.0" }) },
  };
}

function refuseLongScripts(app: App, manifest: Table | undefined): void {
  for (const [name, script] of entriesAt(manifest, "scripts")) {
    if (typeof script !== "string" || script.length <= commandLengthMax) continue;
    const line = lineOfKey(app.text("package.json"), ["scripts", name]);
    throw tooLong(`The script ${quoted(name)} of ${app.shown("package.json")} (line ${line})`, script);
  }
}

/** A port in the command takes precedence over one in the sources. */
function fixedPort(app: App, start: NodeStart): FixedPort | undefined {
  const inCommand = portInCommand(start.line);
  if (inCommand === undefined) return nodeListenPort(app, start.line);
  return { ...inCommand, file: start.file, line: start.declaredAt };
}
