import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { App } from "aws-cdk-lib";
import { expect, it } from "vitest";
import { readBundle } from "../../lib/bundle.ts";
import { readSettings } from "../../lib/settings.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const settingsOf = (context: Record<string, unknown>) =>
  readSettings(new App({ context, outdir: temporaryFolder("app") }).node);

it("a deployment without any -c value has databases and the name Slipway", () => {
  expect(settingsOf({ "@aws-cdk/core:newStyleStackSynthesis": true, "aws:cdk:bundling-stacks": ["*"] })).toEqual({
    stackName: "Slipway",
    database: "aurora",
    alarmEmail: undefined,
    removal: "never",
  });
});

it.each([
  [
    { databse: "none" },
    'Unknown context value "databse". Use -c with one of: stackName, database, alarmEmail, removal.',
  ],
  [{ database: "mysql" }, 'Unknown database "mysql". Use -c database=aurora or -c database=none.'],
  [{ database: "" }, 'The context value "database" must be text: -c database=…'],
  [
    { stackName: "9lives" },
    '"9lives" is not a valid stack name. Use at most 32 letters, digits and hyphens, starting with a letter.',
  ],
  [{ removal: "all" }, 'Unknown removal "all". Use -c removal=never, first-deploy, keep-data, everything.'],
  [{ alarmEmail: "ops" }, '"ops" is not an e-mail address. Use -c alarmEmail=name@example.com or leave it out.'],
])("%o is refused with a message that says what to do", (context, message) => {
  expect(() => settingsOf(context)).toThrow(message);
});

it("the error for a missing bundle says how to build it", () => {
  const folder = temporaryFolder("no-bundle");
  expect(() => readBundle(folder)).toThrow('Run "npx cdk" from the root of the repository');
  mkdirSync(join(folder, "lambdas"));
  expect(() => readBundle(folder)).toThrow("image-build.buildspec.json is missing");
});

it("the CDK app prints the error message without a stack trace", () => {
  const root = join(import.meta.dirname, "../..");
  const env = { ...process.env, CDK_CONTEXT_JSON: '{"databse":"none"}', CDK_OUTDIR: temporaryFolder("out") };
  const run = () =>
    execFileSync(process.execPath, ["bin/slipway.ts"], { cwd: root, env, stdio: "pipe", encoding: "utf8" });
  expect(run).toThrow(
    expect.objectContaining({
      status: 1,
      stderr: 'Unknown context value "databse". Use -c with one of: stackName, database, alarmEmail, removal.\n',
    }),
  );
});
