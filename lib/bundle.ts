import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What `scripts/bundle.ts` leaves in dist/: the functions' one asset and the image build's buildspec. */
export interface Bundle {
  functions: string;
  buildspec: Record<string, unknown>;
}

function jsonObject(text: string, file: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Error(`${file} holds no JSON object.`);
  return { ...value };
}

/** Finds the bundle below `folder`; an error says how to make it. */
export function readBundle(folder: string): Bundle {
  const functions = join(folder, "lambdas");
  const buildspec = join(folder, "image-build.buildspec.json");
  for (const path of [functions, buildspec]) {
    if (!existsSync(path))
      throw new Error(`${path} is missing. Run "npx node scripts/bundle.ts" first, or "npm run deploy", which does.`);
  }
  return { functions, buildspec: jsonObject(readFileSync(buildspec, "utf8"), buildspec) };
}
