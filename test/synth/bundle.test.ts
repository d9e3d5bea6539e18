import { execFile } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Metafile } from "esbuild";
import { beforeAll, expect, it } from "vitest";
import type { Capability } from "../../api/capabilities.ts";
import { capabilityEnvironment } from "../../api/environment.ts";
import { routes } from "../../api/index.ts";
import { pages } from "../../api/pages.ts";
import { capabilitiesOf } from "../../api/route.ts";
import { staticServerText } from "../../buildpack/image/static-server/text.ts";
import { newKeyPair } from "../../lambdas/http/presented-credential.ts";
import { tableRoutes } from "../../scripts/bundle/groups.ts";
import { handlerFiles, missingHandlers } from "../../scripts/bundle/handlers.ts";
import { imageBuildServices, listeners, operatorUses, removalSteps, steps } from "../../statemachines/steps.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { toolModules } from "./tools.ts";

const root = join(import.meta.dirname, "../..");
const run = promisify(execFile);

/** Copies the repository without build output, as after a clone and `npm ci`. `cp` takes half the processor time of `cpSync`. */
async function freshClone(): Promise<string> {
  const clone = temporaryFolder("clone");
  const made = new Set(["node_modules", "dist", "cdk.out", ".git", ".slipway"]);
  await run("cp", ["-R", ...readdirSync(root).filter((name) => !made.has(name)), clone], { cwd: root });
  symlinkSync(join(root, "node_modules"), join(clone, "node_modules"));
  return clone;
}

/** Runs `cdk synth` in a clone; returns what it prints. */
async function cdkSynth(clone: string): Promise<string> {
  const path = `${join(root, "node_modules", ".bin")}:${process.env.PATH}`;
  const args = ["synth", "--no-version-reporting", "--no-notices", "-c", "alarmEmail=alarms@example.com"];
  const env = { ...process.env, PATH: path };
  const { stdout } = await run("cdk", args, { cwd: clone, env, maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}

let clone: string;
let template: Promise<string>;
/** The bundle, in a folder without node_modules above it. */
let folder: string;
let meta: Metafile;

// The bundle that these tests read is the one that `cdk synth` makes, because to bundle all functions costs three seconds
// of processor time. The synthesis and its validation take another eight: on a busy machine that is minutes.
beforeAll(async () => {
  clone = await freshClone();
  template = cdkSynth(clone);
  // If it fails, its own test says so.
  await template.catch(() => {});
  folder = temporaryFolder("lambdas");
  cpSync(join(clone, "dist", "lambdas"), folder, { recursive: true });
  meta = JSON.parse(readFileSync(join(clone, "dist", "lambdas.metafile.json"), "utf8"));
}, 300_000);

it("cdk synth works in a fresh clone, prints the template only, and CDK's own validation passes", async () => {
  expect(await template).toMatch(/^Description: /);
  expect(existsSync(join(clone, "dist", "lambdas", "organizations", "ping.mjs"))).toBe(true);
  const report = JSON.parse(readFileSync(join(clone, "cdk.out", "validation-report.json"), "utf8"));
  expect(report.pluginReports).toEqual([]);
});

const usesOf = new Map<string, readonly Capability[]>([
  ...routes.map((route) => [`${route.resource}/${route.id}`, capabilitiesOf(route)] as const),
  ...Object.entries({ ...steps, ...removalSteps, ...listeners, ...imageBuildServices }).map(
    ([id, { uses }]) => [`pipeline/${id}`, uses] as const,
  ),
  ["operator/operator", operatorUses],
  ["service/not-found", []],
  ...pages.map(({ id, resource, uses }) => [`${resource}/${id}`, uses] as const),
]);

/** The outputs that these load with their imports, without what is imported later. */
function withImports(names: readonly string[]): Set<string> {
  const seen = new Set<string>();
  const visit = (name: string) => {
    if (seen.has(name)) return;
    seen.add(name);
    for (const { path, kind } of meta.outputs[name]?.imports ?? []) {
      if (kind === "import-statement" && meta.outputs[path]) visit(path);
    }
  };
  for (const name of names) visit(name);
  return seen;
}

const outputOf = (file: string): string | undefined =>
  Object.keys(meta.outputs).find((name) => meta.outputs[name]?.entryPoint === `lambdas/${file}.ts`);

/** The outputs that a function can load for the tools of these capabilities. */
function toolsOf(file: string, uses: readonly Capability[]): string[] {
  const modules = uses.flatMap((capability) => toolModules.get(capability) ?? []);
  const entry = outputOf(file);
  const later = [...withImports(entry === undefined ? [] : [entry])].flatMap((name) =>
    (meta.outputs[name]?.imports ?? []).flatMap(({ path, kind }) => (kind === "dynamic-import" ? [path] : [])),
  );
  return modules.map((module) => {
    const found = later.find((path) => meta.outputs[path]?.entryPoint === module);
    if (found === undefined) throw new Error(`The bundle of ${file} does not contain ${module}`);
    return found;
  });
}

/** The output files that a function always loads: its entry, the tools of its capabilities, and their imports. */
function loaded(file: string): Set<string> {
  const entry = outputOf(file);
  return withImports([...(entry === undefined ? [] : [entry]), ...toolsOf(file, usesOf.get(file) ?? [])]);
}

const bytes = (names: Iterable<string>) => [...names].reduce((sum, name) => sum + (meta.outputs[name]?.bytes ?? 0), 0);
const inputs = (names: Iterable<string>) => [...names].flatMap((name) => Object.keys(meta.outputs[name]?.inputs ?? {}));

it("every declared handler has a file, and each file becomes a function", () => {
  expect(missingHandlers(root)).toEqual([]);
  for (const file of handlerFiles) {
    const output = Object.values(meta.outputs).find(({ entryPoint }) => entryPoint === `lambdas/${file}.ts`);
    expect([file, output?.exports]).toEqual([file, expect.arrayContaining(["handler"])]);
  }
});

it("no function contains code of the CDK, lib/, local/ or tests", () => {
  const strangers = /(^|\/)node_modules\/(aws-cdk-lib|constructs|cdk-nag|vitest|esbuild)\/|^(lib|local|cli|test|bin)\//;
  expect(inputs(Object.keys(meta.outputs)).filter((input) => strangers.test(input))).toEqual([]);
});

it("only the function that calls the public routes contains the client", () => {
  const withClient = handlerFiles.filter((file) => inputs(loaded(file)).some((input) => input.startsWith("sdk/")));
  expect(withClient).toEqual(["mcp/serve-mcp"]);
});

it("the analysis loads the static server as text, as esbuild makes it of its sources, where it is needed", async () => {
  const [, analysis] =
    Object.entries(meta.outputs).find(([, one]) => one.entryPoint === "lambdas/pipeline/analyze.ts") ?? [];
  const later = analysis?.imports.filter(({ kind, external }) => kind === "dynamic-import" && !external) ?? [];
  const texts = await Promise.all(later.map(({ path }) => readFile(join(clone, path), "utf8")));
  const code = texts.join("");
  for (const sentence of ["Serving files", "The build did not write the folder"]) {
    expect(await staticServerText()).toContain(sentence);
    expect(code).toContain(sentence);
  }
});

it("credentials come only from the environment: the other credential providers are not bundled", () => {
  const chain = /credential-provider-(?!env\b)|token-providers|nested-clients/;
  expect(inputs(Object.keys(meta.outputs)).filter((input) => chain.test(input))).toEqual([]);
});

it("a function contains only the SDK clients of its capabilities", () => {
  const clientsIn = (names: Iterable<string>) =>
    new Set(inputs(names).flatMap((input) => /@aws-sdk\/(client-[\w-]+)\//.exec(input)?.[1] ?? []));
  for (const [file, uses] of usesOf) {
    const named = clientsIn(withImports(toolsOf(file, uses)));
    expect([file, [...clientsIn(loaded(file))].filter((client) => !named.has(client))]).toEqual([file, []]);
  }
});

it("a route that touches only the table loads little and few files, because each file delays its cold start", () => {
  for (const file of tableRoutes) {
    const names = loaded(file);
    const kb = Math.ceil(bytes(names) / 1024);
    expect([file, names.size, kb]).toEqual([
      file,
      expect.toSatisfy((files) => files <= 20),
      expect.toSatisfy((size) => size <= 350),
    ]);
  }
  expect(loaded("organizations/ping").size).toBeLessThanOrEqual(9);
});

/** KB of JavaScript in a cold start: the base with DynamoDB's client, each other client, and a folder's own code. */
const budget = {
  frame: 400,
  clients: {
    "client-s3": 190,
    "client-sts": 20,
    "client-ecr": 30,
    "client-ecs": 60,
    "client-sfn": 40,
    "client-cloudwatch": 40,
    "client-cloudwatch-logs": 40,
    "client-codebuild": 60,
    "client-rds-data": 60,
  },
  own: [
    // The analysis itself, `yaml` for pnpm-lock.yaml (96 KB), the rules of secretlint (64), and the static server as text.
    [/^pipeline\/analyze$/, 340],
    [/^tables\//, 160],
    // An invitation makes an account and a sign-in link; a member who leaves is taken off the managers' lists.
    [/^members\//, 10],
    // Every operator command in one function.
    [/^operator\//, 10],
    // The protocol's library with the schemas of all its revisions, the client, and every declaration of a route.
    [/^mcp\//, 700],
  ] as [RegExp, number][],
};

it("each function stays within its budget", () => {
  const over = [...usesOf.keys()].flatMap((file) => {
    const names = loaded(file);
    const paths = inputs(names).join("\n");
    const clients = Object.entries(budget.clients).filter(([client]) => paths.includes(`/${client}/`));
    const own = budget.own.filter(([pattern]) => pattern.test(file));
    const allowed = [...clients, ...own].reduce((sum, [, kb]) => sum + kb, budget.frame);
    const kb = Math.ceil(bytes(names) / 1024);
    return kb <= allowed ? [] : [{ file, kb, allowed }];
  });
  expect(over).toEqual([]);
});

it("the whole asset stays small", async () => {
  // Two libraries that only their own functions load: that of passkeys, and that of the protocol for language models.
  const ownLibraries =
    /node_modules\/(@simplewebauthn|@peculiar|@hexagon|@levischuck|asn1js|pvtsutils|pvutils|tsyringe|reflect-metadata|@modelcontextprotocol)\//;
  const inputBytes = Object.values(meta.outputs).flatMap(({ inputs }) => Object.entries(inputs));
  const sum = (of: (path: string) => boolean) =>
    inputBytes.reduce((total, [path, { bytesInOutput }]) => total + (of(path) ? bytesInOutput : 0), 0) / 1024;
  expect(sum((path) => !ownLibraries.test(path))).toBeLessThan(2_000);
  expect(sum((path) => ownLibraries.test(path))).toBeLessThan(700);
  expect((await readdir(folder)).sort()).toContain("chunks");
});

/** Runs a script in a new process in the bundle's folder, as Lambda does. */
async function inLambda(script: string, env: Record<string, string>): Promise<string> {
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", script], {
    cwd: folder,
    env: { AWS_REGION: "eu-central-1", AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: "secret", ...env },
  });
  return stdout;
}

it("every function loads with nothing but the bundle and its variables", async () => {
  const names = [...new Set(Object.values(capabilityEnvironment).flat())];
  const variables = Object.fromEntries(names.map((name) => [name, "value"]));
  const script = `
    const files = ${JSON.stringify(handlerFiles)};
    const loaded = [];
    for (const file of files) loaded.push([file, typeof (await import("./" + file + ".mjs")).handler]);
    console.log(JSON.stringify(loaded));
  `;
  const loadedHandlers: [string, string][] = JSON.parse(await inLambda(script, variables));
  expect(loadedHandlers).toEqual(handlerFiles.map((file) => [file, "function"]));
});

const event = (headers: Record<string, string>) => ({
  version: "2.0",
  rawPath: "/ping",
  headers,
  requestContext: { requestId: "request-1", http: { method: "GET", path: "/ping" } },
  isBase64Encoded: false,
});

it("the bundled not-found function answers in the service's shape", async () => {
  const script = `console.log(JSON.stringify(await (await import("./service/not-found.mjs")).handler(${JSON.stringify(event({}))})))`;
  const answer = JSON.parse(await inLambda(script, {}));
  expect([answer.statusCode, JSON.parse(answer.body).code]).toEqual([404, "not_found"]);
});

it("a bundled function signs its calls with the environment's credentials, over Node's own http", async () => {
  const calls: (string | undefined)[][] = [];
  const table = createServer((request, response) => {
    calls.push([String(request.headers["x-amz-target"]), request.headers.authorization]);
    response.setHeader("content-type", "application/x-amz-json-1.0");
    request.resume().on("end", () => response.end(JSON.stringify({ Responses: { rows: [] }, UnprocessedKeys: {} })));
  });
  await new Promise<void>((resolve) => table.listen(0, "127.0.0.1", resolve));
  const { port } = table.address() as AddressInfo;
  const { access, secret } = newKeyPair("org_01jdqz5yqz0000000000000000");
  const script = `
    const { handler } = await import("./organizations/ping.mjs");
    const answer = await handler(${JSON.stringify(event({ authorization: `Bearer ${access}:${secret}` }))}, { getRemainingTimeInMillis: () => 25_000 });
    const slow = ["undici/undici", "internal/readline/interface"];
    console.log(JSON.stringify([answer.statusCode, slow.filter((one) => process.moduleLoadList.some((name) => name.includes(one)))]));
  `;
  try {
    const endpoint = `http://127.0.0.1:${port}`;
    const output = await inLambda(script, { TABLE_NAME: "rows", AWS_ENDPOINT_URL_DYNAMODB: endpoint });
    expect(JSON.parse(output)).toEqual([401, []]);
  } finally {
    table.close();
  }
  expect(calls).toEqual([["DynamoDB_20120810.BatchGetItem", expect.stringContaining("Credential=AKIDEXAMPLE/")]]);
});
