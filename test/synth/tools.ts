import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Capability, capabilities } from "../../api/capabilities.ts";

const httpFolder = "lambdas/http";
const source = readFileSync(join(import.meta.dirname, "../..", httpFolder, "tools.ts"), "utf8");

function moduleOf(capability: Capability): [Capability, string][] {
  const loader = source.slice(source.indexOf(`"${capability}": async`));
  const path = /^[^;]*?(?:import\("([^"]+)"\)|\n {2}")/.exec(loader)?.[1];
  return path === undefined ? [] : [[capability, join(httpFolder, path)]];
}

/** The module of each capability's tools, as a path from the root of the repository. */
export const toolModules: ReadonlyMap<Capability, string> = new Map(capabilities.flatMap(moduleOf));
