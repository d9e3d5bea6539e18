/** The service cannot start or continue; the message is for the user and is printed without a stack trace. */
export class StartRefused extends Error {}

/** Containers of the engine cannot reach this machine, as with a rootless engine. */
export class ContainersRefused extends StartRefused {}

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

/** Converts a file-system error below `home` to a message for the user; undefined for other errors. */
export function unusableHome(home: string, error: unknown): StartRefused | undefined {
  if (error instanceof StartRefused || !(error instanceof Error) || !("code" in error)) return undefined;
  const explanation = explanations[String(error.code)];
  if (explanation === undefined) return undefined;
  const path = "path" in error && typeof error.path === "string" ? error.path : home;
  const advice = "Repair it or make it writable, or set SLIPWAY_HOME to another folder.";
  return new StartRefused(`${path} cannot be used: ${explanation} (${error.message}). ${advice}`, { cause: error });
}
