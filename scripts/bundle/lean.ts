import { builtinModules } from "node:module";
import { fileURLToPath } from "node:url";
import type { Plugin } from "esbuild";

/**
 * An ES module import of one of these modules reads every property, and some property getters load much more: undici
 * for `node:http` (35–47 ms of a cold start), the standard streams for `node:process`, readline for
 * `node:fs`, Web Crypto for `node:crypto`.
 */
const lazyBuiltins = /^(node:)?(https?|process|fs|crypto|stream|zlib)$/;

/**
 * Imports the built-in modules of Node.js that `filter` matches without calling their property getters. `load` is the name of a function
 * in the bundle that returns a module.
 */
export const quickBuiltinsBy = (load: string, filter: RegExp): Plugin => ({
  name: "quick-builtins",
  setup(build) {
    build.onResolve({ filter }, ({ path }) => ({
      path: `node:${path.replace(/^node:/, "")}`,
      namespace: "quick-builtins",
      sideEffects: false,
    }));
    build.onLoad({ filter: /.*/, namespace: "quick-builtins" }, ({ path }) => {
      const module = `${load}(${JSON.stringify(path)})`;
      // esbuild reads the descriptor of each own property of an import, which loads other modules for some of `node:util`; inherited ones it skips.
      const exported = path === "node:util" ? `Object.create(${module})` : module;
      // A CommonJS module: esbuild reads its properties where they are used.
      return { contents: `module.exports = ${exported};`, loader: "js" };
    });
  },
});
export const quickBuiltins = quickBuiltinsBy("process.getBuiltinModule", lazyBuiltins);

/** A function has no AWS configuration files; the code that looks for them would load `node:fs/promises` and readline. */
const noFiles = 'export const filePromises = {}, fileIntercept = {}; export const readFile = async () => "";';

/** DynamoDB's client keeps the endpoints that it discovers in a bounded cache; a function calls one endpoint, so a Map is enough. */
const mapCache = "export default class extends Map { peek(key) { return this.get(key); } constructor() { super(); } }";

/** The SDK's own SHA-256 is for platforms without one; Node.js has it. */
const noSha256 = "export class Sha256Js {}";

/** Leaves out code of the SDK that a function on Node.js never runs. */
export const unreachableCode: Plugin = {
  name: "unreachable-code",
  setup(build) {
    build.onLoad({ filter: /mnemonist[/\\]lru-cache\.js$/ }, () => ({ contents: mapCache, loader: "js" }));
    build.onLoad({ filter: /checksum[/\\]sha256[/\\]Sha256Js\.js$/ }, () => ({ contents: noSha256, loader: "js" }));
  },
};

/** Makes the SDK's clients read credentials and settings only from the environment. */
export const environmentOnly: Plugin = {
  name: "environment-only",
  setup(build) {
    build.onResolve({ filter: /^@aws-sdk\/credential-provider-node$/ }, () => ({
      path: fileURLToPath(new URL("./environment-credentials.ts", import.meta.url)),
    }));
    build.onLoad({ filter: /@smithy\/core\/.*\/shared-ini-file-loader\/readFile\.js$/ }, () => ({
      contents: noFiles,
      loader: "js",
    }));
  },
};

/** Uses the ES modules of `yaml`, because tree shaking removes unused code only from ES modules. */
export const yamlModules = {
  yaml: fileURLToPath(new URL("./browser/dist/index.js", import.meta.resolve("yaml/package.json"))),
};

/** The built-in modules of Lambda's runtime; everything else is bundled. */
export const externals = builtinModules
  .flatMap((name) => [name, `node:${name}`])
  .filter((name) => !lazyBuiltins.test(name));
