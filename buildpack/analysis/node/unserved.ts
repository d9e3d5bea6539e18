import type { App } from "../app.ts";
import { NoPlan } from "../diagnostics.ts";
import type { Dependencies } from "./dependencies.ts";
import { reachable } from "./sources.ts";

/** A kind of entry file that starts no server: the platform that calls it, and whether Bun serves such a default export. */
interface Unserved {
  kind: string;
  isServedByBun: boolean;
}

const LISTENS =
  /\blisten\s*\(|(?<![\w$])serve\s*\(|\bcreate(?:Secure)?Server\s*\(|\bstart\w*Server\s*\(|\.start\s*\(|(?<![.\w$])run\s*\(|\bWebSocketServer\b|\bhttp\.Server\b|\b(?:bootstrap|start|init|main)\s*\(\s*\)/;

const APP_PACKAGES = /["'](?:hono(?:\/[\w-]+)?|@hono\/zod-openapi|elysia|itty-router|h3|express|koa|fastify|polka)["']/;

const SHAPES: readonly [RegExp, Unserved][] = [
  [
    /["']cloudflare:workers["']|\bsatisfies\s+ExportedHandler\b|\bextends\s+(?:WorkerEntrypoint|DurableObject)\b/,
    { kind: "a Cloudflare Worker", isServedByBun: false },
  ],
  [/["']@azure\/functions["']/, { kind: "an Azure function", isServedByBun: false }],
  [
    /["']hono\/(?:aws-lambda|lambda-edge)["']|\bexport\s+(?:const|let|(?:async\s+)?function)\s+handler\b|\bexports\.handler\s*=/,
    { kind: "an AWS Lambda function", isServedByBun: false },
  ],
  [
    /\bexport\s+default\s*\{[^}]{0,500}?\bfetch\b/,
    { kind: "a Worker, whose fetch function another server calls", isServedByBun: true },
  ],
  [
    /\bexport\s+default\s+(?:async\s+)?(?:function\b[^(]{0,100})?\(\s*_?req\w*\b|\bmodule\.exports\s*=\s*(?:async\s+)?(?:function\b[^(]{0,100})?\(\s*_?req\w*\b/,
    { kind: "a function for Vercel or Netlify, which call it with each request", isServedByBun: false },
  ],
  [
    /\bexport\s+default\s+class\b|\bexport\s+class\s+\w*[Hh]andler\b/,
    { kind: "a class that another program uses as a handler", isServedByBun: false },
  ],
];

/** The kind of an entry file that starts no server, nor do its imports; undefined if a server is started or this is unknown. */
function unservedAs(app: App, entry: string): Unserved | undefined {
  const sources = reachable(app, entry);
  const text = sources[0]?.text ?? "";
  if (sources.some((source) => LISTENS.test(source.text))) return undefined;
  const shape = SHAPES.find(([pattern]) => pattern.test(text))?.[1];
  if (shape !== undefined) return shape;
  if (isWorker(app)) return { kind: "a Cloudflare Worker", isServedByBun: false };
  const exportsApp = /\bexport\s+default\s+\w|\bmodule\.exports\s*=\s*\w/.test(text);
  if (!exportsApp || !APP_PACKAGES.test(text)) return undefined;
  return {
    kind: "an app that is exported for another server to call",
    isServedByBun: /["'](?:hono|elysia|itty-router|@hono)/.test(text),
  };
}

export const wranglerFiles = ["wrangler.toml", "wrangler.json", "wrangler.jsonc"];
/** The line of such a file that names a script. */
export const wranglerScript = /^\s*"?main"?\s*[:=]/m;

/** True if Wrangler's configuration names a script that Cloudflare runs. */
export const isWorker = (app: App): boolean => wranglerFiles.some((path) => wranglerScript.test(app.text(path) ?? ""));

/** Throws `NoPlan` (no_start_command) if an entry file starts no server. The message explains what the file is for and how to start a server. */
export function refuseUnserved(app: App, entry: string, dependencies: Dependencies, isBun: boolean): void {
  const unserved = unservedAs(app, entry);
  if (unserved === undefined || (isBun && unserved.isServedByBun)) return;
  const bun = unserved.isServedByBun
    ? " Or commit the bun.lock that bun install writes: then the app is started with bun."
    : "";
  throw new NoPlan(
    "no_start_command",
    `${app.shown(entry)} starts no server: it is ${unserved.kind}. ${remedy(dependencies)}${bun}`,
  );
}

export function remedy(dependencies: Dependencies): string {
  if (dependencies.has("hono") || dependencies.has("@hono/zod-openapi"))
    return 'Add the package @hono/node-server and a file that calls serve({ fetch: app.fetch, port: Number(process.env.PORT) }), and name that file in "scripts": {"start": …}.';
  if (dependencies.has("elysia"))
    return 'Add the package @elysiajs/node and a file that calls app.listen(process.env.PORT), and name that file in "scripts": {"start": …}.';
  if (
    dependencies.has("express") ||
    dependencies.has("koa") ||
    dependencies.has("fastify") ||
    dependencies.has("polka")
  )
    return 'Add a file that calls app.listen(process.env.PORT), and name it in "scripts": {"start": "node server.js"}.';
  return 'Add a file that starts one, such as require("node:http").createServer(handler).listen(process.env.PORT), and name it in "scripts": {"start": "node server.js"}.';
}

/** Commands that emulate another platform on the developer's machine, and what they run. */
const EMULATORS: readonly [RegExp, string][] = [
  [/^wrangler\s+(?:dev|pages\s+dev)\b/, "a Cloudflare Worker"],
  [/^(?:vercel|vc|now)\s+dev\b/, "Vercel functions"],
  [/^(?:netlify|ntl)\s+dev\b/, "Netlify functions"],
  [/^fastly\s+compute\s+serve\b/, "a Fastly Compute app"],
  [/^(?:serverless|sls)\s+offline\b|^sam\s+local\b|^sst\s+dev\b/, "AWS Lambda functions"],
  [/^firebase\s+(?:serve|emulators:start)\b/, "Firebase functions"],
  [/^func\s+(?:start|host)\b/, "Azure functions"],
  [/^electron(?:-forge\s+start)?\b/, "a desktop program"],
];

/** The entry of a command that only emulates another platform. */
export const emulatorOf = (command: string): readonly [RegExp, string] | undefined =>
  EMULATORS.find(([pattern]) => pattern.test(command));

/** Throws `NoPlan` (no_start_command) for a start command that only emulates another platform. `command` is the last one of the line. */
export function refuseEmulator(command: string, place: string, dependencies: Dependencies): void {
  const found = emulatorOf(command);
  if (found === undefined) return;
  throw new NoPlan(
    "no_start_command",
    `${place} runs ${found[1]} for development (${found[0].exec(command)?.[0]}), which starts no server for production. ${remedy(dependencies)}`,
  );
}

/** The command of Google's functions framework, which serves the function that the sources register or export. */
export function functionsFramework(app: App, entry: string, scripts: readonly unknown[]): string {
  const text = reachable(app, entry)[0]?.text ?? "";
  const named = scripts.flatMap((script) =>
    typeof script === "string" ? (/--target[= ]([\w-]+)/.exec(script)?.[1] ?? []) : [],
  )[0];
  const registered = /\b(?:http|cloudEvent)\s*\(\s*["'`]([\w-]+)["'`]/.exec(text)?.[1];
  const exported = /\bexports\.(\w+)\s*=|\bexport\s+(?:const|(?:async\s+)?function)\s+(\w+)/.exec(text);
  const target = named ?? registered ?? exported?.[1] ?? exported?.[2] ?? "function";
  const source = /^(index\.js|src\/)/.test(entry) ? "" : ` --source=${entry}`;
  return `functions-framework --target=${target}${source}`;
}
