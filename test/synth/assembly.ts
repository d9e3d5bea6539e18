import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { App } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import type { CloudAssembly } from "aws-cdk-lib/cx-api";
import { expect } from "vitest";
import { routes } from "../../api/index.ts";
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

interface Options {
  /** Whether `synth` runs CDK's own validation, which costs more than the synthesis. */
  validate?: boolean;
  routes?: readonly ServedRoute[];
}

/** Constructs without the stack trace of their creation, which only the output of a failed validation would show. */
const untraced = { "aws:cdk:disable-creation-stack-traces": true };

/** The app as in `cdk synth`, with the feature flags of cdk.json, which `new App()` does not read. */
export function slipwayApp(
  context: Record<string, unknown> = {},
  options: Options = {},
): { app: App; stack: SlipwayStack } {
  const app = new App({
    builtinCloudFormationValidation: options.validate ?? false,
    context: { ...cdkJson.context, ...untraced, alarmEmail: "alarms@example.com", ...context },
    treeMetadata: false,
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
  assembly: CloudAssembly;
  /** The processor time of the synthesis. */
  cpuSeconds: number;
  /** By logical id. */
  resources: Record<string, Resource>;
}

const known = new Map<string, Synthesized>();

/** A deployment with these `-c` values, synthesized once per process, because that is half a second of work: tests must not change it. */
export function synthesized(context: Record<string, unknown> = {}, options: Options = {}): Synthesized {
  const key = JSON.stringify([context, options]);
  const earlier = known.get(key);
  if (earlier) return earlier;
  const before = process.cpuUsage();
  const { app, stack } = slipwayApp(context, options);
  const assembly = app.synth();
  const { user, system } = process.cpuUsage(before);
  const resources = Template.fromStack(stack).toJSON().Resources;
  const made = { app, stack, assembly, cpuSeconds: (user + system) / 1e6, resources };
  known.set(key, made);
  return made;
}

/** The deployment without a database. CDK validates it; bundle.test.ts lets it validate the default deployment. */
export const withoutDatabase = (): Synthesized => synthesized({ database: "none" }, { validate: true });

/** The contract's routes, with invented ones added until there are 80. */
function eightyRoutes(): ServedRoute[] {
  const like = routes.filter(({ definition }) => definition.uses.includes("table:write"));
  const more = Array.from({ length: Math.max(0, 80 - routes.length) }, (_, n): ServedRoute => {
    const { definition, resource } = like[n % like.length] ?? expect.unreachable();
    const path = `/organizations/{orgId}/projects/{projectId}/invented-${n}/{inventedId}`;
    return { id: `invented-${n}-for-the-test`, method: "PUT", path, definition, resource };
  });
  return [...routes, ...more];
}

const longestStackName = "S".repeat(32);

/** A deployment with the longest stack name and at least 80 routes. */
export function largest(): Synthesized & { stackName: string; routes: readonly ServedRoute[] } {
  const routes = eightyRoutes();
  return { ...synthesized({ stackName: longestStackName }, { routes }), stackName: longestStackName, routes };
}

/** The default deployment's resources by logical id. */
export const resources = (): Record<string, Resource> => synthesized().resources;

/** The stack behind `resources()`. */
export const slipwayStack = (): SlipwayStack => synthesized().stack;

/** The resources of one type, by logical id. */
export function ofType(type: string): [string, Resource][] {
  return Object.entries(resources()).filter(([, resource]) => resource.Type === type);
}
