import { realpathSync } from "node:fs";

/** The folder of an app's files in a container. */
const containerFolder = "/app";

/**
 * Replaces the app's folder on this machine with its folder in a container, so that stack traces look the same.
 * Programs print the folder either as given or with its links resolved, so both names are replaced.
 */
export function inContainerPaths(folder: string): (text: string) => string {
  const names = new Set([folder]);
  try {
    names.add(realpathSync(folder));
  } catch {
    // The folder does not exist, so no program runs in it.
  }
  const longestFirst = [...names].sort((a, b) => b.length - a.length);
  return (text) => longestFirst.reduce((shown, name) => shown.replaceAll(name, containerFolder), text);
}
