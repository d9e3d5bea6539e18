import type { Plan } from "../analysis/plan.ts";
import { shellWord, staticPrepareCommand } from "../analysis/static-command.ts";

/** One shell command of a plan, to be run in the app's folder. */
export interface BuildCommand {
  stage: "install" | "build";
  command: string;
}

/** Where Python packages are installed, in the image and in a local build alike. */
export const virtualEnvironment = ".venv";

/** Installs the package manager itself, null if the base image includes it. `--force`, because some images include another yarn. */
export function managerCommand(plan: Plan): string | null {
  const { name, version } = plan.packageManager;
  switch (name) {
    case "npm":
      return version === null ? null : `npm install --global ${shellWord(`npm@${version}`)}`;
    case "pnpm":
    case "bun":
      return `npm install --global ${shellWord(`${name}@${version ?? "latest"}`)}`;
    case "yarn":
      return `npm install --global --force ${shellWord(yarnPackage(version ?? "1"))}`;
    case "pip":
      return null;
    case "poetry":
      return "pip install 'poetry>=2,<3'";
    case "uv":
    case "pdm":
    case "pipenv":
      return `pip install ${name}`;
  }
}

/** Yarn 1 and its successors are different packages. */
const yarnPackage = (version: string): string =>
  /^[01](\.|$)/.test(version) ? `yarn@${version}` : `@yarnpkg/cli-dist@${version}`;

/** The plan's install command, run after the package manager is installed; the same in an image and on this machine. */
export function installCommands(plan: Plan, python = "python"): BuildCommand[] {
  const commands: string[] = [];
  const install = plan.installsNothing ? null : plan.install;
  const installs = install !== null || plan.addedPackages.length > 0;
  if (plan.language === "python" && installs) commands.push(`${python} -m venv ${virtualEnvironment}`);
  if (install !== null) commands.push(install);
  if (plan.addedPackages.length > 0) {
    const installer = plan.packageManager.name === "uv" ? "uv pip install" : "pip install";
    commands.push(`${installer} ${plan.addedPackages.map(shellWord).join(" ")}`);
  }
  return commands.map((command) => ({ stage: "install", command }));
}

/** The plan's build command, and the preparation of a static site's files. */
export function buildCommands(plan: Plan): BuildCommand[] {
  const commands = [plan.build, plan.static === null ? null : staticPrepareCommand(plan.static)];
  return commands.filter((command) => command !== null).map((command) => ({ stage: "build", command }));
}

/** Settings that make package managers install into the app's folder. CI stays unset, because some tools then treat warnings as errors. */
export function managerEnvironment(plan: Plan): Record<string, string> {
  if (plan.language === "nodejs") {
    return {
      NPM_CONFIG_FUND: "false",
      NPM_CONFIG_AUDIT: "false",
      NPM_CONFIG_UPDATE_NOTIFIER: "false",
      NEXT_TELEMETRY_DISABLED: "1",
    };
  }
  return {
    PIP_ROOT_USER_ACTION: "ignore",
    PIP_DISABLE_PIP_VERSION_CHECK: "1",
    POETRY_VIRTUALENVS_IN_PROJECT: "true",
    PIPENV_VENV_IN_PROJECT: "1",
    UV_LINK_MODE: "copy",
    UV_PYTHON_DOWNLOADS: "never",
  };
}

/** The running app's environment; the project's variables override it. */
export function runEnvironment(plan: Plan): Record<string, string> {
  return plan.language === "nodejs" ? { NODE_ENV: "production", ...plan.env } : { PYTHONUNBUFFERED: "1", ...plan.env };
}

/** True when the start command calls the package manager itself, so that the run stage needs it too. */
export function startNeedsManager(plan: Plan): boolean {
  const { name } = plan.packageManager;
  if (name === "npm" || name === "pip") return false;
  const program = {
    pnpm: "pnpm|pnpx",
    yarn: "yarn|yarnpkg",
    bun: "bun|bunx",
    uv: "uv|uvx",
    poetry: "poetry",
    pdm: "pdm",
    pipenv: "pipenv",
  }[name];
  return new RegExp(`(^|[\\s;&|("'])(${program})(?=\\s|$)`).test(`${plan.prestart ?? ""}\n${plan.start}`);
}
