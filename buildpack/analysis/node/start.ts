import { type App, rootFiles } from "../app.ts";
import { invocationOf } from "../command.ts";
import { lineOfKey, listed, NoPlan } from "../diagnostics.ts";
import { optionalJson } from "../manifests.ts";
import type { StaticSite } from "../plan.ts";
import { procfileEntry } from "../procfile.ts";
import { isVendored } from "../tree.ts";
import { stringAt, type Table } from "../values.ts";
import { frameworkStart } from "./frameworks.ts";
import { resolveCommand } from "./scripts.ts";
import { angularServer, staticBuild } from "./static.ts";

/** Where a start command was found and what it is. */
export interface NodeStart {
  line: string;
  before: string[];
  static: StaticSite | null;
  /** The framework's own build command, for an app without a build script. */
  build: string | null;
  /** The script that builds, where it has another name than build. */
  buildScript?: string;
  buildEnv: Readonly<Record<string, string>>;
  /** The line that declares the command, for suggestions on it. */
  file: string;
  declaredAt: number;
}

const ENTRIES = ["server", "app", "main", "index"].flatMap((name) =>
  ["js", "mjs", "cjs", "ts", "mts", "cts"].map((ending) => `${name}.${ending}`),
);

/** The start command by docs/detection.md, Start; throws `NoPlan` (no_start_command) when there is none. */
export function nodeStart(app: App, manifest: Table | undefined, dependencies: ReadonlyMap<string, string>): NodeStart {
  const names = new Set(dependencies.keys());
  const found = { before: [], static: null, build: null, buildEnv: {}, file: "package.json", declaredAt: 1 };
  const framework = frameworkStart(app, manifest, dependencies);
  const build = framework?.build ?? null;
  const buildEnv = framework?.buildEnv ?? {};
  const web = procfileEntry(app, "web");
  if (web !== undefined) {
    const { line, before } = resolveCommand(web.command, manifest, names);
    return { ...found, line, before, build, buildEnv, file: "Procfile", declaredAt: web.line };
  }
  const built = staticBuild(app, manifest, dependencies);
  if (built !== undefined)
    return {
      ...found,
      line: "",
      static: built.site,
      build: built.build,
      ...(built.buildScript && { buildScript: built.buildScript }),
    };
  const script = stringAt(manifest, "scripts", "start");
  if (script !== undefined && !(framework?.static !== undefined && startsFramework(script))) {
    const { line, before } = resolveCommand("npm start", manifest, names);
    return {
      ...found,
      line,
      before,
      build,
      buildEnv,
      declaredAt: lineOfKey(app.text("package.json"), ["scripts", "start"]),
    };
  }
  if (framework !== undefined) {
    return { ...found, line: framework.start, static: framework.static ?? null, build, buildEnv };
  }
  const line = angularServer(app, manifest) ?? entryCommand(app, manifest);
  if (line === undefined) throw noStart(app);
  return { ...found, line };
}

/** A framework's own server, which has nothing to serve once the framework is told to write files only. */
const startsFramework = (script: string): boolean =>
  /^(next|nuxt|react-router-serve|react-router)$/.test(invocationOf(script.replace(/^npx\s+/, "")).program);

function entryCommand(app: App, manifest: Table | undefined): string | undefined {
  const main = mainFile(app, manifest);
  const entry =
    main ?? ENTRIES.find((name) => app.has(name)) ?? ENTRIES.map((name) => `src/${name}`).find((path) => app.has(path));
  return entry === undefined ? undefined : `node ${entry}`;
}

/** package.json's `main`, if the file exists or a build is to make it. */
function mainFile(app: App, manifest: Table | undefined): string | undefined {
  const main = stringAt(manifest, "main")?.replace(/^(\.?\/)+|\/+$/g, "");
  if (main === undefined || !/^[\w@./-]+$/.test(main) || main.split("/").includes("..")) return undefined;
  const candidates = [main, `${main}.js`, `${main}/index.js`, `${main}.cjs`, `${main}.mjs`];
  const existing = candidates.find((path) => app.has(path) && /\.([cm]?[jt]s)$/.test(path));
  if (existing !== undefined) return existing;
  const built =
    /^(dist|build|lib|out|output|\.output)\//.test(main) && stringAt(manifest, "scripts", "build") !== undefined;
  return built ? main : undefined;
}

/** The folders below the root whose package.json has a start script. */
const startableMembers = (app: App): string[] =>
  app.paths
    .filter((path) => path.endsWith("/package.json") && !isVendored(path))
    .filter((path) => stringAt(optionalJson(app, path), "scripts", "start") !== undefined)
    .map((path) => path.slice(0, path.lastIndexOf("/")));

function noStart(app: App): NoPlan {
  const members = startableMembers(app);
  const [first] = members;
  const place = app.root === "" ? "the archive" : app.root;
  if (first !== undefined) {
    return new NoPlan(
      "no_start_command",
      `No start command was found for the Node.js app in ${place} itself, but ${listed(members)} ${members.length === 1 ? "has a start script" : "have start scripts"}. Upload ${members.length === 1 ? "that folder" : "one of these folders"} alone, or say in the package.json above it what to start: "scripts": {"start": "cd ${first} && npm start"}.`,
    );
  }
  return new NoPlan(
    "no_start_command",
    `No start command was found for the Node.js app in ${place}: no Procfile with a web: line, no scripts.start in package.json, and no server.js, app.js, main.js or index.js. Add "scripts": {"start": "node server.js"} to package.json. Files seen: ${listed(rootFiles(app), 12)}.`,
  );
}
