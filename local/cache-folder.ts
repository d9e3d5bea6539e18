import { join } from "node:path";

/** Holds what can be made again, for every home on this machine. `npm ci` removes it. */
export const cacheFolder = join(import.meta.dirname, "..", "node_modules", ".cache", "slipway");
