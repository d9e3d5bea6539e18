import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { App } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { renderBuildspec } from "../../buildpack/image/buildspec.ts";
import { readBundle } from "../../lib/bundle.ts";
import type { ServedRoute } from "../../lib/http-api.ts";
import { readSettings } from "../../lib/settings.ts";
import { SlipwayStack } from "../../lib/stack.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const cdkJson: { context: Record<string, unknown> } = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../cdk.json"), "utf8"),
);

/** A bundle without code; the template depends only on its path. */
function emptyBundle(): string {
  const folder = temporaryFolder("bundle");
  mkdirSync(join(folder, "lambdas"));
  writeFileSync(join(folder, "lambdas", "empty.mjs"), "");
  writeFileSync(join(folder, "image-build.buildspec.json"), JSON.stringify(renderBuildspec()));
  return folder;
}

/** The app as in `cdk synth`, with the feature flags of cdk.json, which `new App()` does not read. */
export function slipwayApp(
  context: Record<string, unknown> = {},
  options: { validate?: boolean; routes?: readonly ServedRoute[] } = {},
): { app: App; stack: SlipwayStack } {
  const app = new App({
    builtinCloudFormationValidation: options.validate ?? false,
    context: { ...cdkJson.context, alarmEmail: "alarms@example.com", ...context },
    outdir: temporaryFolder("assembly"),
  });
  const settings = readSettings(app.node);
  const stack = new SlipwayStack(app, settings.stackName, {
    settings,
    bundle: readBundle(emptyBundle()),
    ...(options.routes && { routes: options.routes }),
  });
  return { app, stack };
}

export interface Resource {
  Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: CloudFormation properties, read by assertions only
  Properties: any;
  DeletionPolicy?: string;
  UpdateReplacePolicy?: string;
}

interface Synthesized {
  app: App;
  stack: SlipwayStack;
  /** By logical id. */
  resources: Record<string, Resource>;
}

const known = new Map<string, Synthesized>();

/** A deployment with these `-c` values, synthesized once per process, because that is a second of work: tests must not change it. */
export function synthesized(context: Record<string, unknown> = {}): Synthesized {
  const key = JSON.stringify(context);
  const earlier = known.get(key);
  if (earlier) return earlier;
  const { app, stack } = slipwayApp(context);
  const made = { app, stack, resources: Template.fromStack(stack).toJSON().Resources };
  known.set(key, made);
  return made;
}

/** The default deployment's resources by logical id. */
export const resources = (): Record<string, Resource> => synthesized().resources;

/** The stack behind `resources()`. */
export const slipwayStack = (): SlipwayStack => synthesized().stack;

/** The resources of one type, by logical id. */
export function ofType(type: string): [string, Resource][] {
  return Object.entries(resources()).filter(([, resource]) => resource.Type === type);
}
