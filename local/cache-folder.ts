import { join } from "node:path";

/** A cache for all data folders on this machine. `npm ci` removes it. */
export const cacheFolder = join(import.meta.dirname, "..", "node_modules", ".cache", "slipway");
