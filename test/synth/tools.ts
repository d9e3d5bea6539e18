import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Capability, capabilities } from "../../api/capabilities.ts";

const kit = "lambdas/http";
const source = readFileSync(join(import.meta.dirname, "../..", kit, "tools.ts"), "utf8");

function moduleOf(capability: Capability): [Capability, string][] {
  const loader = source.slice(source.indexOf(`"${capability}": async`));
  const path = /^[^;]*?(?:import\("([^"]+)"\)|\n {2}")/.exec(loader)?.[1];
  return path === undefined ? [] : [[capability, join(kit, path)]];
}

/** The module, from the root of the repository, that a capability's tools come from. */
export const toolModules: ReadonlyMap<Capability, string> = new Map(capabilities.flatMap(moduleOf));
