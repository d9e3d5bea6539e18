import type { App } from "../app.ts";
import { stringAt, type Table } from "../values.ts";
import type { Dependencies } from "./dependencies.ts";
import { reachable } from "./sources.ts";

const TYPESCRIPT = /\.([cm]?ts|[jt]sx)$/;

/** The command of each package that runs TypeScript; commands without arguments come first. */
const RUNNERS: readonly [string, (isModule: boolean) => string][] = [
  ["tsx", () => "tsx"],
  ["ts-node", (isModule) => (isModule ? "node --loader ts-node/esm" : "ts-node")],
  // ts-node-dev restarts the app at each change; ts-node, which it includes, does not.
  ["ts-node-dev", () => "ts-node --transpile-only"],
  ["@swc-node/register", (isModule) => `node --import @swc-node/register/${isModule ? "esm-register" : "register"}`],
  ["@swc/register", () => "node -r @swc/register"],
  ["esbuild-register", () => "node -r esbuild-register"],
  ["@babel/node", () => "babel-node --extensions .ts,.js"],
  ["jiti", () => "jiti"],
];

/** The command that runs an entry file, or the reason why neither Node.js nor a declared package can run it. */
export function runnerOf(
  app: App,
  manifest: Table | undefined,
  dependencies: Dependencies,
  entry: string,
): { command: string } | { obstacle: string } {
  if (!TYPESCRIPT.test(entry)) return { command: `node ${entry}` };
  const isModule = /\.mts$/.test(entry) || stringAt(manifest, "type") === "module";
  const obstacle = obstacleFor(app, entry);
  const runner = RUNNERS.find(([name]) => dependencies.has(name));
  if (runner !== undefined && (obstacle !== undefined || !isModule))
    return { command: `${runner[1](isModule)} ${entry}` };
  return obstacle === undefined ? { command: `node ${entry}` } : { obstacle };
}

/** Describes the syntax in an entry file or its imports that Node.js cannot run: Node.js only removes types. */
function obstacleFor(app: App, entry: string): string | undefined {
  for (const { path, text } of reachable(app, entry)) {
    if (!TYPESCRIPT.test(path)) continue;
    const found = /\.[jt]sx$/.test(path) ? "is JSX" : inText(app, path, text);
    if (found !== undefined) return `${app.shown(path)} ${found}`;
  }
  return undefined;
}

const RELATIVE = /(?:\bfrom\s*|\bimport\s*\(\s*|^\s*import\s+)["'](\.{1,2}\/[^"'\n]+)["']/gm;

function inText(app: App, path: string, text: string): string | undefined {
  if (/^\s*(?:export\s+)?(?:const\s+)?enum\s+\w+\s*\{/m.test(text)) return "declares an enum";
  if (/\bconstructor\s*\(\s*(?:@\w+\([^)]*\)\s*)?(?:private|public|protected|readonly)\s/.test(text))
    return "declares properties in a constructor's parameters";
  if (/^\s*@\w+(?:\([^\n]*\))?\s*(?:\n|export\b|class\b)/m.test(text) && /\bclass\b/.test(text))
    return "has decorators";
  for (const [statement, specifier = ""] of text.matchAll(RELATIVE)) {
    if (/\.([cm]?[jt]sx?|json|node|wasm)$/.test(specifier)) {
      if (namesTypeScriptAsScript(app, path, specifier)) return `imports ${specifier}, which is TypeScript`;
    } else if (!isTypeOnly(text, text.indexOf(statement))) return `imports ${specifier} without its ending`;
  }
  return undefined;
}

/** Node.js removes `import type { A } from "./a"`, so the file need not exist. */
const isTypeOnly = (text: string, at: number): boolean =>
  /\b(?:import|export)\s+type\s[^;]*$/.test(text.slice(Math.max(0, at - 500), at));

/** An import of `./a.js` when only `a.ts` exists. */
function namesTypeScriptAsScript(app: App, from: string, specifier: string): boolean {
  if (!/\.[cm]?js$/.test(specifier)) return false;
  const names = from.split("/").slice(0, -1);
  for (const name of specifier.split("/")) {
    if (name === "..") names.pop();
    else if (name !== ".") names.push(name);
  }
  const path = names.join("/");
  return !app.has(path) && app.has(path.replace(/\.([cm]?)js$/, ".$1ts"));
}
