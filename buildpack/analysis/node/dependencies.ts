import { entriesAt, type Table } from "../values.ts";

/** Package names with their declared ranges. */
export type Dependencies = ReadonlyMap<string, string>;

/** The declared dependencies of a package.json by name, with their ranges; development dependencies included. */
export function dependenciesOf(manifest: Table | undefined): Dependencies {
  const found = new Map<string, string>();
  for (const kind of ["devDependencies", "optionalDependencies", "dependencies"]) {
    for (const [name, range] of entriesAt(manifest, kind)) if (typeof range === "string") found.set(name, range);
  }
  return found;
}
