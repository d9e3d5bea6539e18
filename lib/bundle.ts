import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The output of `scripts/bundle.ts` in dist/: the folder of all functions' code, and the image build's buildspec. */
export interface Bundle {
  functions: string;
  buildspec: Record<string, unknown>;
}

function jsonObject(text: string, file: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Error(`${file} does not contain a JSON object.`);
  return { ...value };
}

/** Reads the bundle below `folder`; if it is missing, the error says how to build it. */
export function readBundle(folder: string): Bundle {
  const functions = join(folder, "lambdas");
  const buildspec = join(folder, "image-build.buildspec.json");
  for (const path of [functions, buildspec]) {
    if (!existsSync(path))
      throw new Error(
        `${path} is missing. Run "npx cdk" from the root of the repository: the build command of cdk.json makes it.`,
      );
  }
  return { functions, buildspec: jsonObject(readFileSync(buildspec, "utf8"), buildspec) };
}
