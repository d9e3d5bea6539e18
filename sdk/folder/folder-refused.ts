import { SlipwayError } from "../errors.ts";

/** The error of a folder that cannot be deployed, before anything of it is sent; the message says why and what to do. */
export function folderRefused(message: string, cause?: unknown): SlipwayError {
  return new SlipwayError("folder_refused", message, { cause });
}
