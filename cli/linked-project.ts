import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as z from "zod";
import { Failure } from "./failure.ts";

const linkedProject = z.object({ baseUrl: z.string(), organizationId: z.string(), projectId: z.string() }).partial();
export type LinkedProject = z.infer<typeof linkedProject>;

/** The project that `slipway link` remembered for a folder or the nearest one above it; empty if there is none. */
export function readLink(folder: string): LinkedProject {
  const file = join(folder, ".slipway", "project.json");
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const isMissing =
      error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
    if (!isMissing) throw new Failure(`${file} cannot be read. Check its permissions.`, { cause: error });
    const above = dirname(folder);
    return above === folder ? {} : readLink(above);
  }
  try {
    return linkedProject.parse(JSON.parse(text));
  } catch (error) {
    throw new Failure(`${file} does not name a project. Delete it, and run: slipway link`, { cause: error });
  }
}
