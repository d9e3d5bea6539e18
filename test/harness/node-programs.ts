import { existsSync } from "node:fs";
import { delimiter } from "node:path";

const named = (process.env.NODE_PROGRAMS ?? "").split(delimiter);

/** The versions of Node.js that packages are tried on: this one, the machine's own, and those that NODE_PROGRAMS names. */
export const nodePrograms = [process.execPath, "/usr/bin/node", ...named].filter((path) => existsSync(path));
