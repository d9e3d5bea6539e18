const leftoverNames = new Set([".ds_store", "thumbs.db", "desktop.ini"]);

/** Whether a file is a leftover of an operating system (docs/detection.md, Root); `path` as in ArchiveEntry. */
export function isLeftover(path: string): boolean {
  if (path.startsWith("__MACOSX/") || path.includes("/__MACOSX/")) return true;
  const name = path.slice(path.lastIndexOf("/") + 1);
  return name.startsWith("._") || name === "__MACOSX" || leftoverNames.has(name.toLowerCase());
}
