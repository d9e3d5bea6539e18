import type { Plan } from "../analysis/plan.ts";
import { shellWord } from "../analysis/static-command.ts";

export interface BuildCommand {
  stage: "install" | "build";
  command: string;
}

/** Where Python packages are installed, in the image and in a local build alike. */
export const virtualEnvironment = ".venv";

/** Installs the package manager itself, where the base image does not bring it. */
export function managerCommand(plan: Plan): string | null {
  const { name, version } = plan.packageManager;
  switch (name) {
    case "npm":
      return version === null ? null : `npm install --global ${shellWord(`npm@${version}`)}`;
    case "pnpm":
    case "bun":
      return `npm install --global ${shellWord(`${name}@${version ?? "latest"}`)}`;
    case "yarn":
      return `npm install --global ${shellWord(/^(1\b|1\.)/.test(version ?? "1") ? `yarn@${version ?? "1"}` : `@yarnpkg/cli-dist@${version}`)} --force`;
    case "pip":
      return null;
    case "uv":
    case "poetry":
    case "pdm":
    case "pipenv":
      return `pip install ${shellWord(version === null ? name : `${name}==${version}`)}`;
  }
}

/** The plan as commands in the app's folder, after the manager is there; the same in an image and on this machine. */
export function installCommands(plan: Plan, python = "python"): BuildCommand[] {
  const commands: string[] = [];
  const isPython = plan.language === "python";
  if (isPython && (plan.install !== null || plan.addedPackages.length > 0))
    commands.push(`${python} -m venv ${virtualEnvironment}`);
  if (plan.install !== null) commands.push(plan.install);
  if (plan.addedPackages.length > 0) {
    const target = plan.packageManager.name === "uv" ? "uv pip install" : "pip install";
    commands.push(`${target} ${plan.addedPackages.map(shellWord).join(" ")}`);
  }
  return commands.map((command) => ({ stage: "install", command }));
}

export function buildCommands(plan: Plan): BuildCommand[] {
  return plan.build === null ? [] : [{ stage: "build", command: plan.build }];
}

/** What managers must be told so that packages land in the app's own folder. */
export function managerEnvironment(plan: Plan): Record<string, string> {
  if (plan.language === "nodejs") return {};
  return {
    PIP_ROOT_USER_ACTION: "ignore",
    PIP_DISABLE_PIP_VERSION_CHECK: "1",
    POETRY_VIRTUALENVS_IN_PROJECT: "true",
    PIPENV_VENV_IN_PROJECT: "1",
    UV_LINK_MODE: "copy",
    PYTHONUNBUFFERED: "1",
  };
}
