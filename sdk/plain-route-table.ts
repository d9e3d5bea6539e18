import type { Plugin } from "esbuild";
import { clientRoutes } from "./routes.ts";

/** An esbuild plugin that puts the values of the route table into a bundle, instead of the declarations with all their schemas. */
export const plainRouteTable: Plugin = {
  name: "plain-route-table",
  setup(build) {
    build.onLoad({ filter: /[/\\]sdk[/\\]routes\.ts$/ }, () => ({
      contents: `export const clientRoutes = ${JSON.stringify(clientRoutes)};`,
      loader: "js",
    }));
  },
};
