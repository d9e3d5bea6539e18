import semver from "semver";
import type { Dependencies } from "./dependencies.ts";

/** Build tools, and the first major version whose hashes OpenSSL 3 has: earlier ones use MD4 (webpack 4). */
const FIRST_WITHOUT = [
  ["webpack", 5],
  ["react-scripts", 5],
  ["@vue/cli-service", 5],
  ["@angular-devkit/build-angular", 12],
  ["nuxt", 3],
  ["gatsby", 3],
] as const;

/** The environment that lets a build tool of the time before Node.js 17 compute its hashes; empty for every other app. */
export function legacyHashes(dependencies: Dependencies): Record<string, string> {
  const isOld = FIRST_WITHOUT.some(([name, major]) => {
    const range = semver.validRange(dependencies.get(name));
    return range !== null && !semver.intersects(range, `>=${major}.0.0-0`, { includePrerelease: true });
  });
  return isOld ? { NODE_OPTIONS: "--openssl-legacy-provider" } : {};
}
