import { join } from "node:path";
import { App } from "aws-cdk-lib";
import { readBundle } from "../lib/bundle.ts";
import { readSettings } from "../lib/settings.ts";
import { SlipwayStack } from "../lib/stack.ts";

const app = new App();

try {
  const settings = readSettings(app.node);
  const bundle = readBundle(join(import.meta.dirname, "..", "dist"));
  new SlipwayStack(app, settings.stackName, { settings, bundle });
  app.synth();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
