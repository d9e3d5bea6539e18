import * as z from "zod";
import { confirmation, cursor, lengthOf, pageLimit, resourceName, timestamp } from "./common.ts";
import { limits } from "./limits.ts";
import { route } from "./route.ts";

const storage = z.object({
  id: z.string(),
  name: z.string(),
  status: z.literal("active"),
  createdAt: timestamp(),
  updatedAt: timestamp(),
});

export type StorageReply = z.infer<typeof storage>;

/** `pending` until the file is uploaded, then `active` (docs/api.md, Storage). */
export const fileStatus = z.enum(["pending", "active"]);
export type FileStatus = z.infer<typeof fileStatus>;

const file = z.object({
  id: z.string(),
  name: z.string(),
  path: z.string(),
  mime: z.string(),
  size: z.int(),
  status: fileStatus,
  error: z.null(),
  createdAt: timestamp(),
  updatedAt: timestamp(),
});
export type FileReply = z.infer<typeof file>;

const name = z
  .string({ error: "must be a string" })
  .refine((text) => lengthOf(text) >= 1 && lengthOf(text) <= limits.fileNameLengthMax, {
    error: `must have 1 to ${limits.fileNameLengthMax} characters`,
  })
  .refine((text) => text.isWellFormed(), { error: "must be well-formed Unicode" });

/** The upload sends it as a header, so characters that a header cannot carry are refused (docs/api.md, Storage). */
const mime = z
  .string({ error: "must be a string" })
  .refine((text) => text.includes("/"), { error: "must contain a slash" })
  .refine((text) => lengthOf(text) <= limits.mimeLengthMax, {
    error: `must have at most ${limits.mimeLengthMax} characters`,
  })
  .refine((text) => !/\p{Cc}/u.test(text), { error: "must not contain control characters" })
  .refine((text) => text.isWellFormed(), { error: "must be well-formed Unicode" });

const newFile = z.object({ name, mime }, { error: "must be an object with name and mime" });

const newFiles = z
  .array(newFile, { error: "must be a list of files" })
  .min(1, { error: "must name at least 1 file" })
  .max(limits.filesPerRequestMax, { error: `must name at most ${limits.filesPerRequestMax} files` });

const storages = "/organizations/{orgId}/storages" as const;
const files = `${storages}/{storageId}/files` as const;

export const listStorages = route("list-storages", `GET ${storages}`, {
  summary: "The storages of the organization, oldest first; all of its projects share them.",
  tool: { name: "list_storages", description: "The storages of an organization." },
  reply: () => z.object({ storages: z.array(storage) }),
  status: 200,
  errors: [],
  uses: ["table:read"],
});

export const createStorage = route("create-storage", `POST ${storages}`, {
  summary: "Makes a storage.",
  body: () => z.object({ name: resourceName() }),
  reply: () => z.object({ storage }),
  status: 201,
  errors: ["limit_reached", "idempotency_mismatch"],
  event: "commit",
  uses: ["table:read", "table:write"],
  role: "admin",
});

export const updateStorage = route("update-storage", `PUT ${storages}/{storageId}`, {
  summary: "Renames a storage.",
  body: () => z.object({ name: resourceName() }),
  reply: () => z.object({ storage }),
  status: 200,
  errors: [],
  event: "commit",
  uses: ["table:read", "table:write"],
  role: "admin",
});

export const listFiles = route("list-files", `GET ${files}`, {
  summary: "The files of a storage, newest first; those of one request in the order in which they were sent.",
  query: () => z.object({ limit: pageLimit(limits.filesPageMax, limits.filesPageDefault), cursor: cursor() }),
  tool: { name: "list_files", description: "The files of a storage, newest first." },
  reply: () => z.object({ files: z.array(file), nextCursor: z.string().nullable() }),
  status: 200,
  errors: [],
  uses: ["table:read"],
});

export const createFiles = route("create-files", `POST ${files}`, {
  event: "commit",
  summary: "Prepares files, all or none; each gets an upload address that is valid for one hour.",
  body: () => z.object({ files: newFiles }),
  reply: () => z.object({ files: z.array(file.extend({ url: z.string(), expiresAt: timestamp() })) }),
  status: 201,
  errors: ["idempotency_mismatch"],
  uses: ["table:read", "table:write", "files:sign"],
});

export const getFile = route("get-file", `GET ${files}/{fileId}`, {
  summary: "One file with an address to download it from, valid for one hour.",
  reply: () => z.object({ file: file.extend({ url: z.string() }) }),
  status: 200,
  errors: [],
  uses: ["table:read", "files:follow", "files:sign", "files:look"],
});

export const deleteFile = route("delete-file", `DELETE ${files}/{fileId}`, {
  event: "commit",
  summary: "Deletes a file permanently: an earlier upload address can no longer restore it.",
  reply: () => z.object({ file: z.string() }),
  status: 200,
  errors: [],
  uses: ["table:read", "table:write", "files:remove"],
});

export const deleteStorage = route("delete-storage", `DELETE ${storages}/{storageId}`, {
  summary: "Deletes a storage that holds no files.",
  query: confirmation,
  reply: () => z.object({ storage: z.string() }),
  status: 200,
  errors: ["storage_not_empty"],
  event: "commit",
  uses: ["table:read", "table:write"],
  role: "admin",
});
