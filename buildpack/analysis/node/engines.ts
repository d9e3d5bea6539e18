import type { App } from "../app.ts";
import type { PackageManager } from "../plan.ts";
import { stringAt, type Table, valueAt } from "../values.ts";

/**
 * Settings that stop package managers from checking `engines`. When an app asks for an unsupported Node.js release line, another
 * one is used with a warning, so the check would fail every such build. Later versions of Yarn do not check, and reject unknown settings.
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
    // npm fails if devEngines.runtime differs from the running version, and no narrower setting turns this check off.
    ...(valueAt(manifest, "devEngines", "runtime") !== undefined && { NPM_CONFIG_FORCE: "true" }),
  };
}

/** The same for pnpm, as options of its install command, because its workspace file overrides the environment. */
export const pnpmInstallFlag = (app: App, { name }: PackageManager): string =>
  name === "pnpm" && isStrict(app) ? " --config.engine-strict=false" : "";

const isStrict = (app: App): boolean =>
  /^\s*engine-strict\s*=\s*["']?true/m.test(app.text(".npmrc") ?? "") ||
  /^engineStrict:\s*true/m.test(app.text("pnpm-workspace.yaml") ?? "");
