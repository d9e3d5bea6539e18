import { homedir } from "node:os";
import { join } from "node:path";
import type { Context } from "./command.ts";

/** The folder for what can be made or fetched again: SLIPWAY_CACHE, else the user's own cache folder. */
export function cacheFolder({ SLIPWAY_CACHE, XDG_CACHE_HOME }: Context["environment"]): string {
  return SLIPWAY_CACHE || join(XDG_CACHE_HOME || join(homedir(), ".cache"), "slipway");
}
