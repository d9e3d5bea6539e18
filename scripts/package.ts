import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSdk } from "./package/sdk.ts";

const dist = fileURLToPath(new URL("../dist", import.meta.url));

/** Builds the packages that users install, below dist/. */
await buildSdk(join(dist, "sdk"));
console.log("Built dist/sdk. Try it in another folder: npm install <this folder>/dist/sdk");
