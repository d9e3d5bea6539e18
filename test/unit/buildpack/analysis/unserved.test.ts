import { expect, test } from "vitest";
import { analysisOf, errorOf } from "./tree.ts";

type Files = Record<string, string | object>;
const any = (...names: string[]) => Object.fromEntries(names.map((name) => [name, "*"]));
const hono =
  "import { Hono } from 'hono'\nconst app = new Hono()\napp.get('/', (c) => c.text('hi'))\nexport default app\n";

test.each<[string, object, Files, string, string]>([
  [
    "a Hono app",
    { dependencies: any("hono") },
    { "src/index.ts": hono },
    "src/index.ts starts no server: it is an app that is exported",
    "@hono/node-server",
  ],
  [
    "an Elysia app",
    { dependencies: any("elysia") },
    { "index.ts": "import { Elysia } from 'elysia'\nexport default new Elysia().get('/', 'hi')" },
    "it is an app that is exported",
    "@elysiajs/node",
  ],
  [
    "an Express app",
    { main: "api.js", dependencies: any("express") },
    { "api.js": "const express = require('express')\nconst app = express()\nmodule.exports = app" },
    "api.js starts no server",
    "app.listen(process.env.PORT)",
  ],
  [
    "a Worker's object",
    {},
    { "index.js": "export default {\n  async fetch(request, env) { return new Response('hi') }\n}" },
    "it is a Worker",
    "createServer(handler)",
  ],
  [
    "a Cloudflare Worker",
    {},
    {
      "src/index.ts":
        "import { DurableObject } from 'cloudflare:workers'\nexport default { fetch() {} } satisfies ExportedHandler<Env>",
    },
    "it is a Cloudflare Worker",
    "createServer(handler)",
  ],
  [
    "a Worker according to its configuration",
    {},
    {
      "src/index.ts": "export { Explorer as default } from 'explorer'",
      "wrangler.jsonc": '{\n  "main": "src/index.ts"\n}',
    },
    "it is a Cloudflare Worker",
    "createServer(handler)",
  ],
  [
    "a Worker whose script is elsewhere",
    {},
    { "worker/app.ts": hono, "wrangler.toml": 'main = "worker/app.ts"\n' },
    "is a Cloudflare Worker according to its Wrangler configuration",
    "createServer(handler)",
  ],
  [
    "an AWS Lambda function",
    {},
    { "index.mjs": "export const handler = async (event) => ({ statusCode: 200 })" },
    "it is an AWS Lambda function",
    "createServer(handler)",
  ],
  [
    "an AWS Lambda function in CommonJS",
    {},
    { "index.js": "exports.handler = async () => {}" },
    "it is an AWS Lambda function",
    "createServer(handler)",
  ],
  [
    "a Vercel function",
    {},
    { "index.js": "export default function handler(req, res) { res.json({}) }" },
    "it is a function for Vercel",
    "createServer(handler)",
  ],
  [
    "a class",
    {},
    { "app.ts": "export default class App { fetch() {} }" },
    "it is a class that another program",
    "createServer(handler)",
  ],
  [
    "a start script that runs a Hono app",
    { scripts: { start: "tsx src/index.ts" }, dependencies: any("hono", "tsx") },
    { "src/index.ts": hono },
    "src/index.ts starts no server",
    "@hono/node-server",
  ],
  [
    "wrangler dev",
    { scripts: { start: "wrangler dev src/index.ts" }, dependencies: any("hono") },
    { "src/index.ts": hono },
    "The start command in package.json runs a Cloudflare Worker for development (wrangler dev)",
    "@hono/node-server",
  ],
  [
    "vercel dev in a Procfile",
    {},
    { Procfile: "web: vercel dev --listen $PORT" },
    "The start command in Procfile runs Vercel functions",
    "createServer(handler)",
  ],
])("a file that starts no server is an error that says what it is: %s", (_, manifest, files, is, remedy) => {
  const { code, message } = errorOf({ "package.json": { type: "module", ...manifest }, ...files });
  expect([code, message]).toEqual(["no_start_command", expect.stringContaining(is)]);
  expect(message).toContain(remedy);
});

test.each<[string, object, Files, string]>([
  [
    "a Hono app with Bun's lock",
    { dependencies: any("hono") },
    { "src/index.ts": hono, "bun.lock": "" },
    "bun src/index.ts",
  ],
  [
    "a Worker's object with Bun's lock",
    {},
    { "index.ts": "export default { port: 3000, fetch() {} }", "bun.lockb": "" },
    "bun index.ts",
  ],
  [
    "JSX with Bun's lock",
    { dependencies: any("hono") },
    { "src/index.tsx": hono, "bun.lock": "" },
    "bun src/index.tsx",
  ],
  [
    "an app of Hono that bun starts",
    { scripts: { start: "bun run src/index.ts" }, dependencies: any("hono") },
    { "src/index.ts": hono },
    "bun run src/index.ts",
  ],
  [
    "Google's functions framework",
    { dependencies: any("@google-cloud/functions-framework") },
    {
      "index.js":
        "const functions = require('@google-cloud/functions-framework')\nfunctions.http('hello', (req, res) => res.send('hi'))",
    },
    "functions-framework --target=hello",
  ],
  [
    "Google's functions framework with its target in a script",
    {
      scripts: { dev: "npx functions-framework --target=api" },
      dependencies: any("@google-cloud/functions-framework"),
    },
    { "index.js": "exports.hello = (req, res) => {}" },
    "functions-framework --target=api",
  ],
  [
    "a function for it that is exported elsewhere",
    { main: "fn.js", dependencies: any("@google-cloud/functions-framework") },
    { "fn.js": "exports.hello = (req, res) => res.send('hi')" },
    "functions-framework --target=hello --source=fn.js",
  ],
  [
    "an app that another file serves",
    { dependencies: any("express") },
    {
      "app.js": "module.exports = require('./lib/app')",
      "lib/app.js": "const app = require('express')()\napp.listen(process.env.PORT)\nmodule.exports = app",
    },
    "node app.js",
  ],
  [
    "an app that listens where it is the main module",
    { dependencies: any("express") },
    {
      "app.js": "const app = require('express')()\nif (require.main === module) app.listen(3000)\nmodule.exports = app",
    },
    "node app.js",
  ],
  [
    "serve of @hono/node-server",
    { type: "module", dependencies: any("hono", "@hono/node-server") },
    { "index.ts": `import { serve } from '@hono/node-server'\n${hono}serve({ fetch: app.fetch })` },
    "node index.ts",
  ],
  [
    "what cannot be told",
    { scripts: { start: "node server.js" } },
    { "server.js": "require('some-framework')" },
    "node server.js",
  ],
  [
    "a function called start",
    {},
    { "index.js": "import { start } from 'thing'\nstart()\nexport default function (req, res) {}" },
    "node index.js",
  ],
])("%s is started", (_, manifest, files, start) => {
  expect(analysisOf({ "package.json": manifest, ...files }).plan.start).toBe(start);
});

test.each<[string, object, Files, string]>([
  [
    "tsx, imports without endings",
    { devDependencies: any("tsx"), type: "module" },
    { "src/index.ts": "import { a } from './a'\na.listen()", "src/a.ts": "" },
    "tsx src/index.ts",
  ],
  [
    "tsx, CommonJS",
    { devDependencies: any("tsx") },
    { "server.ts": "import http from 'node:http'\nhttp.createServer()" },
    "tsx server.ts",
  ],
  [
    "tsx, but Node.js can",
    { devDependencies: any("tsx"), type: "module" },
    { "server.ts": "import { a } from './a.ts'\nimport type { B } from './b'\na.listen()", "a.ts": "", "b.ts": "" },
    "node server.ts",
  ],
  [
    "ts-node",
    { devDependencies: any("ts-node", "typescript") },
    { "src/server.ts": "import { a } from './a'\na.listen()", "src/a.ts": "" },
    "ts-node src/server.ts",
  ],
  [
    "ts-node in an ES module",
    { devDependencies: any("ts-node"), type: "module" },
    { "src/server.ts": "import { a } from './a'\na.listen()", "src/a.ts": "" },
    "node --loader ts-node/esm src/server.ts",
  ],
  [
    "ts-node-dev without its watching",
    { devDependencies: any("ts-node-dev") },
    { "index.ts": "import { a } from './a'\na.listen()", "a.ts": "" },
    "ts-node --transpile-only index.ts",
  ],
  [
    "swc",
    { devDependencies: any("@swc-node/register") },
    { "index.ts": "import { a } from './a'\na.listen()", "a.ts": "" },
    "node --import @swc-node/register/register index.ts",
  ],
  [
    "an enum in what is imported",
    { devDependencies: any("tsx"), type: "module" },
    { "index.ts": "import { a } from './a.ts'\na.listen()", "a.ts": "export enum A { B }" },
    "tsx index.ts",
  ],
  [
    "a script's name for TypeScript",
    { devDependencies: any("tsx"), type: "module" },
    { "index.ts": "import { a } from './a.js'\na.listen()", "a.ts": "" },
    "tsx index.ts",
  ],
  ["no runner, none needed", {}, { "index.ts": "import { a } from './a.ts'\na.listen()", "a.ts": "" }, "node index.ts"],
  [
    "JavaScript",
    { devDependencies: any("tsx") },
    { "index.js": "require('./a').listen()", "a.js": "" },
    "node index.js",
  ],
])("TypeScript is run by what the app declares: %s", (_, manifest, files, start) => {
  expect(analysisOf({ "package.json": manifest, ...files }).plan.start).toBe(start);
});

test.each<[string, Files, string]>([
  [
    "imports without endings",
    { "index.ts": "import { a } from './a'\na.listen()", "a.ts": "" },
    "index.ts imports ./a without its ending",
  ],
  [
    "properties in parameters",
    { "index.ts": "import './a.ts'", "a.ts": "class A {\n  constructor(private readonly b: B) { listen() }\n}" },
    "a.ts declares properties in a constructor's parameters",
  ],
  ["decorators", { "index.ts": "@Controller()\nexport class A { listen() {} }" }, "index.ts has decorators"],
  ["JSX", { "src/index.tsx": "serve(<a/>)" }, "src/index.tsx is JSX"],
])("TypeScript that nothing can run is an error that says so: %s", (_, files, obstacle) => {
  const { code, message } = errorOf({ "package.json": {}, ...files });
  expect([code, message]).toEqual(["no_start_command", expect.stringContaining(`${obstacle}. Add the package tsx`)]);
});

const exported = "import express from 'express'\nconst app = express()\nexport default app\n";
const startOf = (manifest: object, files: Files): string => {
  try {
    return analysisOf({ "package.json": manifest, ...files }).plan.start;
  } catch (error) {
    return String(error);
  }
};

test.each([
  "app.listen  (3000)",
  "serve  ({ fetch })",
  "Bun.serve  ({ fetch })",
  "http.createServer  (app)",
  "http2.createSecureServer  (options, app)",
  "startApolloServer  (app)",
  "startServer (app)",
  "server.start  ()",
  "server.start  (options)",
  "run  (app)",
  "new WebSocketServer({ port })",
  "new http.Server(app)",
  "bootstrap  (  )",
  "start (  )",
  "init()",
  "main (  )",
])("a server is started by %s", (call) => {
  const files = { "index.js": `import './www.js'\n${exported}`, "www.js": `${call}\n` };
  expect(startOf({ type: "module" }, files)).toBe("node index.js");
  expect(startOf({ type: "module" }, { "index.js": `${exported}${call}\n` })).toBe("node index.js");
});

test.each([
  "observe(app)",
  "$serve(app)",
  "app.run(x)",
  "rerun(app)",
  "$run(app)",
  "main(app)",
  "server.listener",
  "startServer",
  "restart",
])("no server is started by %s", (call) => {
  expect(startOf({ type: "module" }, { "index.js": `${exported}${call}\n` })).toContain("starts no server");
});

const worker = "a Cloudflare Worker";
const lambda = "an AWS Lambda function";
const vercel = "a function for Vercel or Netlify, which call it with each request";
const handlerClass = "a class that another program uses as a handler";
const fetcher = "a Worker, whose fetch function another server calls";
const other = "an app that is exported for another server to call";
test.each<[string, string, Files?]>([
  ["import { env } from 'cloudflare:workers'", worker],
  ["export default {} satisfies  ExportedHandler<Env>", worker],
  ["class Room extends  DurableObject {}", worker],
  ["class Room extends  WorkerEntrypoint {}", worker],
  ["import { app } from '@azure/functions'", "an Azure function"],
  ["import { handle } from 'hono/aws-lambda'", lambda],
  ["import { handle } from 'hono/lambda-edge'", lambda],
  ["export  const  handler = route", lambda],
  ["export  let  handler", lambda],
  ["export  async  function  handler (event) {}", lambda],
  ["export  function  handler (event) {}", lambda],
  ["exports.handler  = route", lambda],
  ["export  default  {\n  async fetch(request) {}\n}", fetcher],
  ["export  default  async  function  answer (  request, response) {}", vercel],
  ["export  default  function(req, res) {}", vercel],
  ["export  default  async  (  _request) => {}", vercel],
  ["export default (req) => {}", vercel],
  ["module.exports  =  async  function  answer (  request, response) {}", vercel],
  ["module.exports  =  function(req, res) {}", vercel],
  ["module.exports  =  async  (  _request) => {}", vercel],
  ["module.exports=(req) => {}", vercel],
  ["export  default  class  Api {}", handlerClass],
  ["export  class  AppHandler {}", handlerClass],
  ["export class handler {}", handlerClass],
  ["register()", worker, { "wrangler.toml": 'name = "x"\nmain="src/index.ts"\n' }],
  ["register()", worker, { "wrangler.json": '{\n  "main"  : "src/index.ts"\n}' }],
  ["register()", worker, { "wrangler.jsonc": '{\n  "main"  : "src/index.ts" // entry\n}' }],
  ["import 'express'\nexport  default  app", other],
  ["require('koa')\nmodule.exports  =  app", other],
  ["require('polka')\nmodule.exports=app", other],
  ["import 'fastify'\nexport  default  new  App ()", other],
  ["import 'hono/tiny'\nexport default app", other],
  ["import '@hono/zod-openapi'\nexport default app", other],
  ["import 'h3'\nexport default app", other],
  ["import 'itty-router'\nexport default app", other],
  ["import 'elysia'\nexport default app", other],
])("what %j is for, and whether Bun serves it", (text, kind, files = {}) => {
  const all = { "index.js": `${text}\n`, ...files };
  const message = startOf({ type: "module" }, all);
  expect(message).toContain(`index.js starts no server: it is ${kind}. Add a file that starts one`);
  const isServedByBun = kind === fetcher || (kind === other && /hono|elysia|itty/.test(text));
  if (isServedByBun) {
    expect(message).toMatch(/ Or commit the bun\.lock that bun install writes: then the app is started with bun\.$/);
    expect(startOf({ type: "module" }, { ...all, "bun.lock": "{}" })).toBe("bun index.js");
  } else {
    expect(message).toMatch(/"scripts": \{"start": "node server\.js"\}\.$/);
    expect(startOf({ type: "module" }, { ...all, "bun.lock": "{}" })).toContain(`it is ${kind}. `);
  }
});

test.each<[string, Files]>([
  ["an export of something else", { "index.js": "module.exports = thing\n" }],
  ["a package of servers without an export", { "index.js": "const app = require('express')()\n" }],
  ["a class beside", { "index.js": "export class Shop {}\n" }],
  ["a function with other parameters", { "index.js": "export default function (options) {}\n" }],
  ["another name in wrangler.toml", { "index.js": "", "wrangler.toml": 'domain = "x"\n[env.main]\n' }],
])("a file is started where nothing says what it is for: %s", (_, files) => {
  expect(startOf({ type: "module" }, files)).toBe("node index.js");
});

test.each(["my-node index.js", "node-dev index.js"])("what %s runs is not looked at", (start) => {
  expect(startOf({ scripts: { start } }, { "index.js": "export const handler = 1\n" })).toBe(start);
});

test.each<[string, string]>([
  ["hono", "Add the package @hono/node-server"],
  ["@hono/zod-openapi", "Add the package @hono/node-server"],
  ["elysia", "Add the package @elysiajs/node"],
  ["express", "Add a file that calls app.listen"],
  ["koa", "Add a file that calls app.listen"],
  ["fastify", "Add a file that calls app.listen"],
  ["polka", "Add a file that calls app.listen"],
  ["left-pad", "Add a file that starts one"],
])("what to add to an app with %s", (name, sentence) => {
  expect(startOf({ dependencies: any(name) }, { "index.js": "export const handler = 1\n" })).toContain(sentence);
});

test.each([
  ["wrangler  dev", worker],
  ["wrangler  pages  dev", worker],
  ["vercel  dev", "Vercel functions"],
  ["vc dev", "Vercel functions"],
  ["now dev", "Vercel functions"],
  ["netlify  dev", "Netlify functions"],
  ["ntl dev", "Netlify functions"],
  ["fastly  compute  serve", "a Fastly Compute app"],
  ["serverless  offline", "AWS Lambda functions"],
  ["sls offline", "AWS Lambda functions"],
  ["sam  local", "AWS Lambda functions"],
  ["sst  dev", "AWS Lambda functions"],
  ["firebase  serve", "Firebase functions"],
  ["firebase  emulators:start", "Firebase functions"],
  ["func  start", "Azure functions"],
  ["func host", "Azure functions"],
  ["electron", "a desktop program"],
  ["electron-forge  start", "a desktop program"],
])("%s emulates %s, and a program of a similar name does not", (start, what) => {
  const message = startOf({ scripts: { start } }, {});
  expect(message).toContain(`runs ${what} for development (${start}), which starts no server for production.`);
  expect(startOf({ scripts: { start: `my-${start}` } }, {})).toBe(`my-${start}`);
});

test.each<[string, object, string, string]>([
  ["index.js", { try: "functions-framework --target hello-1" }, "", "--target=hello-1"],
  [
    "index.js",
    { seed: 7, lint: "eslint", try: "functions-framework --target=hello-1 --port=1" },
    "",
    "--target=hello-1",
  ],
  ["index.js", {}, "functions.http  (  'hello-1', () => {})", "--target=hello-1"],
  ["index.js", {}, 'functions.cloudEvent(\n  "hello-1", () => {})', "--target=hello-1"],
  ["index.js", {}, "exports.hello  = () => {}", "--target=hello"],
  ["index.js", {}, "export  const  hello = () => {}", "--target=hello"],
  ["index.js", {}, "export  async  function  hello() {}", "--target=hello"],
  ["index.js", {}, "export  function  hello() {}", "--target=hello"],
  ["index.js", {}, "module.exports = {}", "--target=function"],
  ["src/index.js", {}, "exports.hello = 1", "--target=hello"],
  ["app.js", {}, "exports.hello = 1", "--target=hello --source=app.js"],
  ["lib/src/index.js", {}, "exports.hello = 1", "--target=hello --source=lib/src/index.js"],
])("a function of Google's in %s is served by its framework", (main, scripts, text, options) => {
  const manifest = { main, scripts, dependencies: any("@google-cloud/functions-framework") };
  expect(startOf(manifest, { [main]: `${text}\n` })).toBe(`functions-framework ${options}`);
});
