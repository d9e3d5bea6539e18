import { lookup } from "mrmime";

/** The media type of a file's ending (`.pdf`); `application/octet-stream` for an unknown one. */
export const mimeOf = (ending: string): string => lookup(ending) ?? "application/octet-stream";
