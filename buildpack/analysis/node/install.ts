import type { App } from "../app.ts";
import { type Diagnostics, suggest } from "../diagnostics.ts";
import { entriesAt, stringAt, type Table, valueAt } from "../values.ts";
import type { Dependencies } from "./dependencies.ts";
import { lockDisagreement } from "./lock.ts";
import type { NodePackages } from "./package-manager.ts";

/** The lock file that each manager writes. */
const LOCK_OF = { npm: "package-lock.json", pnpm: "pnpm-lock.yaml", yarn: "yarn.lock", bun: "bun.lock" } as const;

/** The install command, null where there is nothing to install; a missing or stale lock file is reported in the diagnostics. */
export function installCommand(
  app: App,
  manifest: Table | undefined,
  dependencies: Dependencies,
  packages: NodePackages,
  diagnostics: Diagnostics,
): string | null {
  if (manifest === undefined) return null;
  const { manager, lock } = packages;
  const berry = manager.name === "yarn" && !/^1\b/.test(manager.version ?? "1");
  const commands = {
    npm: ["npm ci", "npm install"],
    pnpm: ["pnpm install --frozen-lockfile", "pnpm install --no-frozen-lockfile"],
    yarn: berry
      ? ["yarn install --immutable", "yarn install --no-immutable"]
      : ["yarn install --frozen-lockfile", "yarn install"],
    bun: ["bun install --frozen-lockfile", "bun install"],
  } as const;
  const [frozen, free] = commands[manager.name];
  if (lock === null) {
    if (dependencies.size === 0 && !isWorkspace(app, manifest)) return hasInstallScript(manifest) ? free : null;
    suggest(diagnostics, app, {
      code: "no_lock_file",
      message: `package.json has no ${LOCK_OF[manager.name]} next to it, so each build may install different versions. ${free.replace(/ --no-.*/, "")} is used; commit the ${LOCK_OF[manager.name]} that it writes.`,
      file: "package.json",
    });
    return free;
  }
  const disagreement = lockDisagreement(app, manifest, dependencies, lock);
  if (disagreement === undefined) return frozen;
  suggest(diagnostics, app, {
    code: "lock_out_of_step",
    message: `${lock} and package.json disagree: ${disagreement}. ${free} is used; run it and commit ${lock}.`,
    file: lock,
  });
  return free;
}

const HOOKS = ["preinstall", "install", "postinstall", "prepare", "prepublish", "preprepare", "postprepare"];
const LIGHT_HOOK =
  /^(?:npx\s+)?(prisma generate|patch-package|husky( install)?( \|\| (true|exit 0|:))?|lefthook install|simple-git-hooks)$/;

const hasInstallScript = (manifest: Table): boolean =>
  HOOKS.some((hook) => stringAt(manifest, "scripts", hook) !== undefined);

/** True if the app has members, npm's or pnpm's. */
export const isWorkspace = (app: App, manifest: Table | undefined): boolean =>
  valueAt(manifest, "workspaces") !== undefined || app.has("pnpm-workspace.yaml");

/** True if package.json declares no packages and no install scripts. */
export function installsNothing(app: App, manifest: Table | undefined, dependencies: Dependencies): boolean {
  if (manifest === undefined) return true;
  const packages = dependencies.size + entriesAt(manifest, "peerDependencies").length;
  return packages === 0 && !isWorkspace(app, manifest) && !hasInstallScript(manifest);
}

const COPIED_FILES =
  /^(\.npmrc|\.yarnrc|\.yarnrc\.yml|\.pnpmfile\.cjs|pnpm-workspace\.yaml|bunfig\.toml|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lockb?)$/;
/** Each manifest's folder becomes one image layer, and the number of layers is limited. */
const workspacesMax = 50;
const COPIED_FOLDERS = ["patches", "prisma", ".yarn/releases", ".yarn/plugins", ".yarn/patches", ".yarn/cache"];

/** The files and folders that the install reads, null when it needs the whole tree (docs/detection.md, Image). */
export function installManifests(app: App, manifest: Table | undefined, dependencies: Dependencies): string[] | null {
  if (manifest === undefined) return [];
  const hooks = HOOKS.map((hook) => stringAt(manifest, "scripts", hook)).filter((script) => script !== undefined);
  if (hooks.some((script) => !LIGHT_HOOK.test(script))) return null;
  if ([...dependencies.values()].some((range) => /^(file|link|portal):|^\.{0,2}\//.test(range))) return null;
  const packages = isWorkspace(app, manifest)
    ? app.paths.filter((path) => /(^|\/)package\.json$/.test(path) && !path.includes("node_modules/"))
    : ["package.json"];
  if (packages.length > workspacesMax) return null;
  return [
    ...packages,
    ...app.paths.filter((path) => COPIED_FILES.test(path)),
    ...COPIED_FOLDERS.filter((path) => app.hasFolder(path)).map((path) => `${path}/`),
  ];
}
