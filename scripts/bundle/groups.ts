import { readFile } from "node:fs/promises";
import type { Plugin } from "esbuild";
import type { Capability } from "../../api/capabilities.ts";
import { routes } from "../../api/index.ts";
import { capabilitiesOf } from "../../api/route.ts";

/** The capabilities whose tools need no AWS client but the table's. */
const ofTheTable: ReadonlySet<Capability> = new Set([
  "table:read",
  "table:write",
  "table:scan",
  "keys:record-use",
  "events:record",
  "live-build:cache",
  "files:follow",
  "console-sessions:renew",
  "service:call",
  "console:locate",
  "domains:route",
]);

/** The routes that touch only the table, as paths below lambdas/ without extension. */
export const tableRoutes: ReadonlySet<string> = new Set(
  routes
    .filter((route) => capabilitiesOf(route).every((capability) => ofTheTable.has(capability)))
    .map(({ id, resource }) => `${resource}/${id}`),
);

/**
 * For a bundle of `tableRoutes`: leaves out the tools that they do not declare, whose clients would keep more of the SDK in
 * the chunks that all share; and lets the table's modules import what every route imports. esbuild makes a chunk for each
 * combination of files that share code, so without it a cold start would load 26 files.
 */
export const onlyTable: Plugin = {
  name: "only-table",
  setup(build) {
    build.onResolve({ filter: /^(\.\.\/aws\/.*|@smithy\/core\/event-streams)$/ }, ({ kind, path }) =>
      kind === "dynamic-import" ? { path, namespace: "left-out" } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: "left-out" }, ({ path }) => ({
      contents: `throw new Error(${JSON.stringify(`${path} is not part of this bundle`)});`,
      loader: "js",
    }));
    const shared = ["../http/endpoint.ts", "./client.ts", "./reader.ts", "./scanner.ts", "./updater.ts", "./writer.ts"];
    build.onLoad(
      { filter: /[/\\]lambdas[/\\]table[/\\](client|reader|scanner|updater|writer)\.ts$/ },
      async ({ path }) => ({
        contents: [...shared.map((one) => `import ${JSON.stringify(one)};`), await readFile(path, "utf8")].join("\n"),
        loader: "ts",
      }),
    );
  },
};
