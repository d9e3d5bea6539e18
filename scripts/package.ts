import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildCli } from "./package/cli.ts";
import { buildSdk } from "./package/sdk.ts";

const dist = fileURLToPath(new URL("../dist", import.meta.url));

/** Builds the packages that users install, below dist/. */
await Promise.all([buildSdk(join(dist, "sdk")), buildCli(join(dist, "cli"))]);
console.log("Built dist/sdk (the client) and dist/cli (the command line). Install them with:");
console.log(`  npm install ${join(dist, "sdk")}`);
console.log(`  npm install --global ${join(dist, "cli")}`);
