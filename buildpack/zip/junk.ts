const junkNames = new Set([".ds_store", "thumbs.db", "desktop.ini"]);

/** Whether a file is a leftover of an operating system (docs/detection.md, Root); `path` as in ArchiveEntry. */
export function isJunk(path: string): boolean {
  if (path.startsWith("__MACOSX/") || path.includes("/__MACOSX/")) return true;
  const name = path.slice(path.lastIndexOf("/") + 1);
  return name.startsWith("._") || name === "__MACOSX" || junkNames.has(name.toLowerCase());
}
