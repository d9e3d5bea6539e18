import * as z from "zod";
import { archiveOwner } from "../builds/model/replies.ts";
import { Build } from "../builds/model/rows.ts";
import { listener } from "../http/step.ts";

const objectCreated = z.object({
  detail: z.object({
    object: z.object({ key: z.string(), size: z.int(), "version-id": z.string() }),
  }),
});

/**
 * Resumes the execution that waits for this upload. A late or repeated event finds no token and does nothing, as does one
 * for another object.
 */
export const handler = listener("archive-uploaded", objectCreated, async ({ detail }, { table, waiting }) => {
  const { key, size, "version-id": version } = detail.object;
  const owner = archiveOwner(key);
  if (!owner) return;
  const { build } = await table.read({ build: Build.at({ projectId: owner.projectId, id: owner.buildId }) });
  if (build?.uploadToken === undefined || build.status !== "pending" || build.canceledAt !== undefined) return;
  await waiting.succeed(build.uploadToken, { version, size });
});
