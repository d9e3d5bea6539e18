import { builtinModules } from "node:module";
import { fileURLToPath } from "node:url";
import type { Plugin } from "esbuild";

/** Reading one of these from `node:http` loads undici (35–47 ms of a cold start, nodejs/node #57649). */
const undiciNames = new Set(["WebSocket", "CloseEvent", "MessageEvent", "default", "module.exports"]);

function builtinSource(name: string): string {
  const names = Object.keys(process.getBuiltinModule(name) ?? {}).filter((one) => !undiciNames.has(one));
  const exported = names.filter((one) => /^[A-Za-z_$][\w$]*$/.test(one));
  return [
    `const builtin = process.getBuiltinModule(${JSON.stringify(name)});`,
    "export default builtin;",
    `export const { ${exported.join(", ")} } = builtin;`,
  ].join("\n");
}

/** `node:http` and `node:https` without what only an ESM import of them would load. */
export const quickHttp: Plugin = {
  name: "quick-http",
  setup(build) {
    build.onResolve({ filter: /^(node:)?https?$/ }, ({ path }) => ({
      path: `node:${path.replace(/^node:/, "")}`,
      namespace: "quick-http",
      sideEffects: false,
    }));
    build.onLoad({ filter: /.*/, namespace: "quick-http" }, ({ path }) => ({
      contents: builtinSource(path),
      loader: "js",
    }));
  },
};

/** The SDK's clients read their credentials from the environment instead of searching a machine for them. */
export const environmentCredentials: Plugin = {
  name: "environment-credentials",
  setup(build) {
    build.onResolve({ filter: /^@aws-sdk\/credential-provider-node$/ }, () => ({
      path: fileURLToPath(new URL("./environment-credentials.ts", import.meta.url)),
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
  .filter((name) => !/^(node:)?https?$/.test(name));
