import type { App } from "../app.ts";
import type { PackageManager } from "../plan.ts";
import { stringAt, type Table, valueAt } from "../values.ts";

/**
 * What a package manager is told so that a line of Node.js that is not offered fails no build: another line is used then, with
 * a warning, and engines disagree by design. Yarn's later versions check nothing, and refuse settings that they do not know.
 */
export function managerSettings(
  app: App,
  manifest: Table | undefined,
  { name, version }: PackageManager,
): Record<string, string> {
  if (name === "yarn") {
    const isFirst = /^[01](\.|$)/.test(version ?? "1");
    const checks = isFirst && stringAt(manifest, "engines", "node") !== undefined;
    return { ...(checks && { YARN_IGNORE_ENGINES: "true" }), YARN_NODE_LINKER: "node-modules" };
  }
  if (name !== "npm") return {};
  return {
    ...(isStrict(app) && { NPM_CONFIG_ENGINE_STRICT: "false" }),
    // npm stops at a devEngines.runtime other than its own, and no lesser setting lets it go on.
    ...(valueAt(manifest, "devEngines", "runtime") !== undefined && { NPM_CONFIG_FORCE: "true" }),
  };
}

/** The same for pnpm, whose workspace file wins over the environment: words behind its install command. */
export const pnpmInstallFlag = (app: App, { name }: PackageManager): string =>
  name === "pnpm" && isStrict(app) ? " --config.engine-strict=false" : "";

const isStrict = (app: App): boolean =>
  /^\s*engine-strict\s*=\s*["']?true/m.test(app.text(".npmrc") ?? "") ||
  /^engineStrict:\s*true/m.test(app.text("pnpm-workspace.yaml") ?? "");
