import type { Plugin } from "esbuild";
import { modules } from "../api/index.ts";
import { declaredRoutes } from "./declared-routes.ts";

/** The file and the export of each route's declaration. */
function placesOfRoutes(): { id: string; file: string; name: string }[] {
  return Object.entries(modules).flatMap(([file, module]) =>
    Object.entries(module).flatMap(([name, value]) => {
      const route = declaredRoutes.find((one) => one === value);
      return route ? [{ id: route.id, file, name }] : [];
    }),
  );
}

/**
 * An esbuild plugin for programs that call few routes: each reply's schema is built when the first reply is checked. Building all of
 * them takes longer than starting Node.js.
 */
export const lazyReplySchemas: Plugin = {
  name: "lazy-reply-schemas",
  setup(build) {
    build.onLoad({ filter: /[/\\]sdk[/\\]replies\.ts$/ }, () => ({
      contents: [
        // A parser that is compiled for a schema takes longer to make than a few replies take without it.
        "const checkedBy = (load) => ({ safeParse: (body) => load().definition.reply.safeParse(body, { jitless: true }) });",
        "export const replySchemas = {",
        // esbuild runs a module that is required, not imported, when it is required.
        ...placesOfRoutes().map(
          ({ id, file, name }) =>
            `${JSON.stringify(id)}: checkedBy(() => require(${JSON.stringify(`../api/${file}.ts`)}).${name}),`,
        ),
        "};",
      ].join("\n"),
      loader: "js",
    }));
  },
};
