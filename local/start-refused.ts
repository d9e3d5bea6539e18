/** The service cannot start or go on; the message is a sentence for the user, who needs no stack trace. */
export class StartRefused extends Error {}

const explanations: Record<string, string> = {
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  EROFS: "its file system is read-only",
  ENOSPC: "its file system is full",
  EDQUOT: "the disk quota is used up",
  ENOTDIR: "a part of the path is a file",
  EEXIST: "it is a file, not a folder",
  ENOENT: "it cannot be created",
  ERR_SQLITE_ERROR: "a database in it cannot be opened",
};

/** The sentence for an error of the file system below `home`; undefined for any other error. */
export function unusableHome(home: string, error: unknown): StartRefused | undefined {
  if (error instanceof StartRefused || !(error instanceof Error) || !("code" in error)) return undefined;
  const explanation = explanations[String(error.code)];
  if (explanation === undefined) return undefined;
  const path = "path" in error && typeof error.path === "string" ? error.path : home;
  const advice = "Make it writable and whole, or set SLIPWAY_HOME to another folder.";
  return new StartRefused(`${path} cannot be used: ${explanation} (${error.message}). ${advice}`, { cause: error });
}
