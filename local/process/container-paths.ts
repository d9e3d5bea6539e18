import { realpathSync } from "node:fs";

/** Where an app's files are in a container. */
const containerFolder = "/app";

/**
 * Puts the app's folder of a container in place of its folder on this machine, so that a trace reads as it does there.
 * Programs print the folder as it was named or as the system resolves it.
 */
export function inContainerPaths(folder: string): (text: string) => string {
  const names = new Set([folder]);
  try {
    names.add(realpathSync(folder));
  } catch {
    // Nothing runs in a folder that does not exist.
  }
  const longestFirst = [...names].sort((a, b) => b.length - a.length);
  return (text) => longestFirst.reduce((shown, name) => shown.replaceAll(name, containerFolder), text);
}
