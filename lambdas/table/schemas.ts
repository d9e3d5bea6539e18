import * as z from "zod";
import { buildStatus, finding, runtime } from "../../api/builds.ts";

/** The shapes of rows that rules speak about; where they stand in the table is `data/`'s matter. */
const at = z.iso.datetime({ precision: 3 });

const ringedKey = z.object({
  id: z.int(),
  access: z.string(),
  description: z.string(),
  createdAt: at,
  lastUsedAt: at.optional(),
});
/** A key ring as the table holds it, an attribute `key_<id>` for each key, turned into a list. */
export const ringSchema = z.looseObject({ lastId: z.int(), held: z.int() }).transform(({ lastId, held, ...rest }) => ({
  lastId,
  held,
  keys: Object.entries(rest)
    .filter(([name]) => name.startsWith("key_"))
    .map(([, key]) => ringedKey.parse(key)),
}));
export type RingRow = z.infer<typeof ringSchema>;

/** Where a build's archive comes from: uploaded by the client, or copied from another build's pinned version. */
export const buildSource = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("upload") }),
  z.object({ kind: z.literal("copy"), buildId: z.string(), key: z.string(), version: z.string(), size: z.int() }),
]);
export type BuildSource = z.infer<typeof buildSource>;

export const buildSchema = z.object({
  id: z.string(),
  projectId: z.string(),
  organizationId: z.string(),
  title: z.string().nullable(),
  description: z.string().nullable(),
  status: buildStatus,
  source: buildSource,
  runtime: runtime.nullable(),
  size: z.int().nullable(),
  error: z.string().nullable(),
  suggestion: z.string().nullable(),
  warning: z.string().nullable(),
  findings: z.array(finding),
  createdAt: at,
  updatedAt: at,
  canceledAt: at.optional(),
  /** The object version that is analyzed and built, pinned when the upload is seen. */
  archive: z.object({ key: z.string(), version: z.string() }).optional(),
  /** The task token of the execution while it waits for the upload. */
  uploadToken: z.string().optional(),
  /** The port its container listens on. */
  port: z.int().optional(),
  /** The task definition this build runs as. */
  taskDefinition: z.string().optional(),
  /** What served before the swap, recorded by the write that sets `deploying`; null when nothing did. */
  previous: z.object({ taskDefinition: z.string(), buildId: z.string().nullable() }).nullable().optional(),
  /** Log streams of the image build and of the app's first task. */
  buildLog: z.string().optional(),
  appLog: z.string().optional(),
});
export type BuildRow = z.infer<typeof buildSchema>;
