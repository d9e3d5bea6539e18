import { describe, expect, test } from "vitest";
import { appAdvice, buildAdvice } from "../../../../lambdas/pipeline/model/advice.ts";
import {
  buildFailedReason,
  caughtReason,
  detectedSentence,
  failedBuildLog,
  uploadMissing,
} from "../../../../lambdas/pipeline/model/failures.ts";

const npmCi = "package-lock.json does not match package.json: run npm install and commit package-lock.json.";
const yarn = "yarn.lock does not match package.json: run yarn install and commit yarn.lock.";
const locked = "The lock file does not match pyproject.toml: run uv lock or poetry lock and commit the file.";
const peers =
  "Two dependencies need different versions of the same package: change one of them, or put the line legacy-peer-deps=true into the file .npmrc.";
const engine =
  "A package does not support this version of Node.js: change engines.node in package.json, or the package.";
const absentPackage = (name: string) =>
  `${name} is not in the registry: check its spelling in package.json; a private one needs a .npmrc.`;
const absentProgram = (name: string) =>
  `The program ${name} is not installed: add the package that contains it to the app's dependencies.`;
const buildMemory =
  "The build ran out of memory. For Node.js set the variable NODE_OPTIONS to --max-old-space-size=3072; otherwise build less at a time.";
const appMemory =
  "The app ran out of memory: set memory in slipway.json to 1024, 2048 or 4096, or keep less data in memory at a time.";
const module_ = (name: string) =>
  `Add ${name} to the dependencies in package.json (npm install ${name}) and deploy again.`;
const python = (name: string) =>
  `Add the package that provides ${name} to the app's dependencies (requirements.txt or pyproject.toml) and deploy again.`;
const file = (path: string) =>
  `The file ${path} is not in the deployed code: check its spelling, upper and lower case included, and whether an ignore rule or a missing build step leaves it out.`;
const variable = (name: string) => `Set the variable ${name} (slipway env set ${name}=…), then deploy or rebuild.`;

const ownPort = (port: number) =>
  `The app connects to port ${port} of its own container, where nothing else runs: let it read the address of that database or service from a variable (slipway env set NAME=…), then deploy again.`;

describe("the advice on a build's output", () => {
  test.each([
    ["npm error `npm ci` can only install packages when your package.json and package-lock.json are in sync", npmCi],
    [
      "ERR_PNPM_OUTDATED_LOCKFILE",
      "pnpm-lock.yaml does not match package.json: run pnpm install and commit pnpm-lock.yaml.",
    ],
    [
      "Error: error:0308010C:digital envelope routines::unsupported",
      "A build tool is older than this version of Node.js (webpack 4, as in react-scripts 4): update it, or set the variable NODE_OPTIONS to --openssl-legacy-provider.",
    ],
    ["error Your lockfile needs to be updated, but yarn was run with --frozen-lockfile", yarn],
    ["YN0028: The lockfile would have been modified", yarn],
    ["YN0028: | - The lockfile would have been created", yarn],
    ["error: The lockfile at `uv.lock` needs to be updated", locked],
    ["pyproject.toml changed significantly since poetry.lock was last generated", locked],
    ["npm error code ERESOLVE", peers],
    ["npm ERR! code ERESOLVE", peers],
    ["npm error code EBADENGINE", engine],
    ["npm ERR! code ENOTSUP", engine],
    [
      "npm error notarget No matching version found for ms@99.0.0.",
      "ms@99.0.0 does not exist: set a published version in package.json.",
    ],
    [
      "npm ERR! notarget No matching version found for @a/b@9\nmore",
      "@a/b@9 does not exist: set a published version in package.json.",
    ],
    ["npm error 404  The requested resource 'gone@1.0.0' could not be found", absentPackage("gone")],
    ["npm ERR! 404 '@scope/gone@1.0.0' is not in this registry", absentPackage("@scope/gone")],
    ["npm error 404 'gone' is not in the npm registry.", absentPackage("gone")],
    [
      "ERROR: No matching distribution found for flask==99",
      "pip found no version of flask==99 for this version of Python: check its spelling and its version in requirements.txt.",
    ],
    ["sh: 1: tsc: not found", absentProgram("tsc")],
    ["/bin/sh: line 1: vite: command not found", absentProgram("vite")],
    ["ng: not found", absentProgram("ng")],
    ["sh: 12: tsc: not found", absentProgram("tsc")],
    ["a\nbash: line 12: next: command not found\nb", absentProgram("next")],
    ["FATAL ERROR: JavaScript heap out of memory", buildMemory],
    ["x\nMemoryError", buildMemory],
    ["fork: Cannot allocate memory", buildMemory],
    ["spawn ENOMEM", buildMemory],
    ["exit code: 137", buildMemory],
    ["exit code 137", buildMemory],
    ["x\nKilled\ny", buildMemory],
    ["ended by signal SIGKILL", buildMemory],
  ])("%s", (output, advice) => {
    expect(buildAdvice(output.split("\n"))).toBe(advice);
  });

  test.each([
    "Killed by the user",
    "my MemoryError",
    "npm warn code ERESOLVE",
    "ERROR: Killed_",
    "a page is not found",
    "x: not found y",
  ])("is none for '%s'", (output) => {
    expect(buildAdvice([output])).toBeUndefined();
  });
});

describe("the advice on an app's output", () => {
  test.each([
    ["Error: Cannot find module 'express'", module_("express")],
    ["Cannot find package '@scope/name/part' imported from /app/a.mjs", module_("@scope/name")],
    ["Cannot find module 'lodash/fp'", module_("lodash")],
    ["Module not found: Error: Can't resolve 'react'", module_("react")],
    ["Module not found: Can't resolve 'react'", module_("react")],
    ['Could not resolve "zod"', module_("zod")],
    ["Cannot find module './lib/a'", file("./lib/a")],
    ["Cannot find module '/app/gone.js'", file("/app/gone.js")],
    ["Cannot find module 'file:///app/gone.js'", file("file:///app/gone.js")],
    ["Cannot find module 'C:\\gone.js'", file("C:\\gone.js")],
    ["ModuleNotFoundError: No module named 'yaml.reader'", python("yaml")],
    ["ImportError: No module named flask", python("flask")],
    ["Error: connect ECONNREFUSED 127.0.0.1:5432", ownPort(5432)],
    ["  Error: connect ECONNREFUSED ::1:27017", ownPort(27017)],
    [
      'psycopg.OperationalError: connection to server at "localhost" (127.0.0.1), port 5432 failed: Connection refused',
      ownPort(5432),
    ],
    ["redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379. Connection refused.", ownPort(6379)],
    ["pymongo: localhost:27017: [Errno 111] Connection refused", ownPort(27017)],
    ["KeyError: 'TOKEN'", variable("TOKEN")],
    ['x\nKeyError: "API_KEY2"\ny', variable("API_KEY2")],
    ["Missing environment variable: API_TOKEN", variable("API_TOKEN")],
    ["environment variable not found: DATABASE_URL", variable("DATABASE_URL")],
    ["Environment variable `REDIS_URL` must be set", variable("REDIS_URL")],
    ["env var A_B is unset", variable("A_B")],
    ["undefined env var: A_B", variable("A_B")],
    ["Error: DATABASE_URL is not defined", variable("DATABASE_URL")],
    ["'API_KEY_2' must be set", variable("API_KEY_2")],
    ["SECRET_KEY environment variable is missing", variable("SECRET_KEY")],
    ["SECRET_KEY env var not provided", variable("SECRET_KEY")],
    ["JWT_SECRET needs to be provided", variable("JWT_SECRET")],
    ["Required setting: DATABASE_URL", variable("DATABASE_URL")],
    ["Error: required setting: TOKEN", variable("TOKEN")],
    ["Missing variables: API_KEY, OTHER_KEY", variable("API_KEY")],
    ["Missing secret: STRIPE", variable("STRIPE")],
    [
      "pydantic_core._pydantic_core.ValidationError: 2 validation errors for Settings\ndatabase_url\n  Field required [type=missing, input_value={}, input_type=dict]\n    For further information visit https://errors.pydantic.dev/2.11/v/missing\napi_key\n  Field required [type=missing, input_value={}, input_type=dict]",
      variable("DATABASE_URL"),
    ],
    [
      "ValidationError: 2 validation errors for AppConfig\nport\n  Input should be a valid integer [type=int_parsing, input_value='x', input_type=str]\n    For further information visit x\ntoken\n  Field required [type=missing, input_value={}, input_type=dict]",
      variable("TOKEN"),
    ],
    [
      "pydantic.error_wrappers.ValidationError: 1 validation error for Settings\nSECRET\n  field required (type=value_error.missing)",
      variable("SECRET"),
    ],
    ...["Env", "Environment", "AppSettingsV2"].map((name): [string, string] => [
      `ValidationError: 1 validation error for ${name}\ntoken\n  Field required [type=missing, input_value={}, input_type=dict]`,
      variable("TOKEN"),
    ]),
    ["ImproperlyConfigured: The AWS_KEY_ID setting must not be empty", variable("AWS_KEY_ID")],
    ["django.core.exceptions.ImproperlyConfigured: Set the TOKEN environment variable", variable("TOKEN")],
    ["django.core.exceptions.ImproperlyConfigured: The SECRET_KEY setting must not be empty.", variable("SECRET_KEY")],
    [
      "decouple.UndefinedValueError: TOKEN not found. Declare it as envvar or define a default value.",
      variable("TOKEN"),
    ],
    [
      'ZodError: [\n  {\n    "code": "invalid_type",\n    "expected": "string",\n    "received": "undefined",\n    "path": [\n      "TOKEN"\n    ],\n    "message": "Required"\n  }\n]',
      variable("TOKEN"),
    ],
    [
      "ZodError: [\n  {\n    expected: 'string',\n    code: 'invalid_type',\n    path: [ 'TOKEN' ],\n    message: 'Invalid input: expected string, received undefined'\n  }\n]",
      variable("TOKEN"),
    ],
    ["❌ Invalid environment variables: { TOKEN: [ 'Required' ] }", variable("TOKEN")],
    [
      "❌ Invalid environment variables: {\n  TOKEN: [ 'Invalid input: expected string, received undefined' ]\n}",
      variable("TOKEN"),
    ],
    ["✖ Invalid input: expected string, received undefined\n  → at TOKEN", variable("TOKEN")],
    [
      "================================\n\u001b[33m Missing\u001b[0m environment variables:\n    \u001b[34mTOKEN\u001b[0m: the token of the service\n================================",
      variable("TOKEN"),
    ],
    ['Error: Config validation error: "TOKEN" is required', variable("TOKEN")],
    ["Error: env must have required property 'COOKIE_SECRET'", variable("COOKIE_SECRET")],
    ["missing A_B", variable("A_B")],
    ["Required setting A_B", variable("A_B")],
    ["no env A_B", variable("A_B")],
    ["Undefined required A_B", variable("A_B")],
    ["JavaScript heap out of memory", appMemory],
  ])("%s", (output, advice) => {
    expect(appAdvice(output.split("\n"))).toBe(advice);
  });

  test.each([
    "KeyError: 'name'",
    "a KeyError: 'NAME'",
    "KeyError: 'NAME' in a dict",
    "environment variable can_be set",
    "environment variable A_Bc is needed",
    "environment variable aA_B is needed",
    "TOKEN is required",
    "1 validation error for Item\nname\n  Field required [type=missing, input_value={}, input_type=dict]",
    'ZodError: [\n  {\n    "path": [\n      "email"\n    ],\n    "message": "Required"\n  }\n]',
    "ZodError: [ { path: [ 'TOKEN' ], message: 'Invalid input: expected string, received number' } ]",
    "Missing secret: README.md",
    "{ myTOKEN: [ 'Required' ] }",
    '"email" is required',
    "myA_B is required",
    "A_B is requiredness",
    "annoA_B",
    "connect ECONNREFUSED 10.0.0.5:5432",
    "npm error code ERESOLVE",
  ])("is none for '%s'", (output) => {
    expect(appAdvice([output])).toBeUndefined();
  });
});

describe("the reason of a failed build", () => {
  const lineOf = (...lines: string[]) => buildFailedReason(lines).split("\n")[0];

  test("names the last command that failed", () => {
    expect(lineOf("npm run build failed with exit code 2", "later")).toBe(
      "The image could not be built: npm run build failed with exit code 2.",
    );
    expect(lineOf(" install: npm ci took longer than 30 minutes ")).toBe(
      "The image could not be built: a command of the build failed.",
    );
    expect(lineOf("  npm ci failed with exit code 1")).toBe(
      "The image could not be built: npm ci failed with exit code 1.",
    );
    expect(lineOf("npm ci took longer than 30 minutes")).toBe(
      "The image could not be built: npm ci took longer than 30 minutes.",
    );
    expect(lineOf("a failed with exit code 1", "b failed with exit code 12")).toContain(
      ": b failed with exit code 12.",
    );
    expect(lineOf("a failed with exit code x")).toContain("a command of the build failed");
    expect(lineOf('ERROR: process "/bin/sh -c npm ci && true" did not complete successfully: exit code: 17')).toBe(
      "The image could not be built: npm ci && true failed with exit code 17.",
    );
  });

  test("holds the output without the command's last line, after advice and what was detected", () => {
    expect(buildFailedReason(["Error: x", "npm ci failed with exit code 1"], "Detected: nodejs24.x.")).toBe(
      "The image could not be built: npm ci failed with exit code 1.\nDetected: nodejs24.x.\nOutput:\nError: x",
    );
    expect(buildFailedReason(["npm ci failed with exit code 1"])).toBe(
      "The image could not be built: npm ci failed with exit code 1.",
    );
  });

  test("says what was detected", () => {
    expect(detectedSentence({ runtime: null, start: "x" })).toBeNull();
    expect(detectedSentence({ runtime: "python3.13" })).toBe("Detected: python3.13.");
    expect(detectedSentence({ runtime: "python3.13", start: "python a.py" })).toBe(
      "Detected: python3.13, started with: python a.py",
    );
  });

  test.each([
    ["BuildRejected", '{"errorMessage":"No."}', "No."],
    ["BuildRejected", '{"errorMessage":5}', "5"],
    ["BuildRejected", "{", "The archive cannot be deployed."],
    ["BuildRejected", "null", "The archive cannot be deployed."],
    ["BuildRejected", '"text"', "The archive cannot be deployed."],
    ["BuildRejected", "{}", "The archive cannot be deployed."],
    ["States.Timeout", "", "A step of the deployment timed out. Please create the build again."],
    [
      "CodeBuild.AccountLimitExceededException",
      "",
      "The account's limit of concurrent image builds is reached. Retry later, or request a higher CodeBuild quota.",
    ],
    ["TypeError", '{"errorMessage":"secret"}', "The deployment failed on our side. Please create the build again."],
  ])("an error %s with %s", (error, Cause, reason) => {
    expect(caughtReason({ Error: error, Cause })).toBe(reason);
  });

  test("finds the log of CodeBuild's failure, and of no other", () => {
    const Cause = '{"Logs":{"StreamName" : "build/1"}}';
    expect(failedBuildLog({ Error: "States.TaskFailed", Cause })).toBe("build/1");
    expect(failedBuildLog({ Error: "States.TaskFailed", Cause: '{"StreamName":"a"}' })).toBe("a");
    expect(failedBuildLog({ Error: "States.TaskFailed", Cause: "{}" })).toBeUndefined();
    expect(failedBuildLog({ Error: "BuildRejected", Cause })).toBeUndefined();
  });

  test("says how an archive should have come", () => {
    expect(uploadMissing).toBe(
      "No archive was uploaded within 1 hour. Create a new build and PUT the zip to its url with Content-Type: application/zip.",
    );
  });
});
