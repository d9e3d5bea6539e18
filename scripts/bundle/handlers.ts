import { existsSync } from "node:fs";
import { join } from "node:path";
import { routes } from "../../api/index.ts";
import { pages } from "../../api/pages.ts";
import { imageBuildServices, listeners, removalSteps, steps } from "../../statemachines/steps.ts";

/** The handler files of all Lambdas below lambdas/, without extension: the declared ones, not-found and operator. */
export const handlerFiles: readonly string[] = [
  ...[...routes, ...pages].map(({ id, resource }) => `${resource}/${id}`),
  ...Object.keys(steps).map((id) => `pipeline/${id}`),
  ...Object.keys(listeners).map((id) => `pipeline/${id}`),
  ...Object.keys(removalSteps).map((id) => `pipeline/${id}`),
  ...Object.keys(imageBuildServices).map((id) => `pipeline/${id}`),
  "service/not-found",
  "operator/operator",
];

/** The declared handlers whose file does not exist. */
export function missingHandlers(root: string): string[] {
  return handlerFiles.filter((file) => !existsSync(join(root, "lambdas", `${file}.ts`)));
}
