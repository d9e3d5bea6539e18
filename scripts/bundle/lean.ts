import { builtinModules } from "node:module";
import { fileURLToPath } from "node:url";
import type { Plugin } from "esbuild";

/**
 * An ES module import of one of these reads every property, and some properties load much more: undici behind `node:http`
 * (35–47 ms of a cold start, nodejs/node #57649), the standard streams behind `node:process`.
 */
const lazyBuiltins = /^(node:)?(https?|process)$/;

/** Every exported name of a built-in module whose value is simply there; a name behind a getter is left out. */
function builtinSource(name: string): string {
  const properties = Object.getOwnPropertyDescriptors(process.getBuiltinModule(name) ?? {});
  const names = Object.entries(properties).flatMap(([one, { get }]) => (get === undefined ? [one] : []));
  const exported = names.filter((one) => /^[A-Za-z_$][\w$]*$/.test(one) && one !== "default");
  return [
    `const builtin = process.getBuiltinModule(${JSON.stringify(name)});`,
    "export default builtin;",
    `export const { ${exported.join(", ")} } = builtin;`,
  ].join("\n");
}

/** Node's own modules without what only an ES module import of them would load. */
export const quickBuiltins: Plugin = {
  name: "quick-builtins",
  setup(build) {
    build.onResolve({ filter: lazyBuiltins }, ({ path }) => ({
      path: `node:${path.replace(/^node:/, "")}`,
      namespace: "quick-builtins",
      sideEffects: false,
    }));
    build.onLoad({ filter: /.*/, namespace: "quick-builtins" }, ({ path }) => ({
      contents: builtinSource(path),
      loader: "js",
    }));
  },
};

/** A function has no configuration files; looking for them loads `node:fs/promises` and half of readline with it. */
const noFiles = 'export const filePromises = {}, fileIntercept = {}; export const readFile = async () => "";';

/** The SDK's clients read credentials and settings from the environment instead of searching a machine for them. */
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

/** `yaml` as ES modules, of which a bundle takes only what reads a file; its CommonJS build cannot be taken apart. */
export const yamlModules = {
  yaml: fileURLToPath(new URL("./browser/dist/index.js", import.meta.resolve("yaml/package.json"))),
};

/** What Lambda's runtime has by itself; everything else is bundled. */
export const externals = builtinModules
  .flatMap((name) => [name, `node:${name}`])
  .filter((name) => !lazyBuiltins.test(name));
