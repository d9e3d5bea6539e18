import { randomUUID } from "node:crypto";
import * as z from "zod";
import type { SingleBuildReply } from "../api/builds.ts";
import { SlipwayError } from "../sdk/errors.ts";
import { uploadArchive } from "../sdk/upload-archive.ts";
import { waitForBuild } from "../sdk/wait-for-build.ts";
import type { Context } from "./command.ts";
import type { Target } from "./configuration.ts";
import { Failure } from "./failure.ts";
import { followBuild, reportOutcome } from "./follow-build.ts";
import { keepArchive } from "./kept-archives.ts";
import { barText, bytesText, durationText, printable } from "./terminal.ts";

interface Archive {
  path: string;
  size: number;
}

interface DeployWishes {
  title: string | undefined;
  description: string | undefined;
  /** Waits for a build in progress, instead of failing. */
  wait: boolean;
  json: boolean;
  /** When the command started, on the clock of `performance.now()`. */
  startedAt: number;
}

/** Uploads an archive, follows its build and reports the outcome; a build that fails or is interrupted is canceled. */
export async function deployArchive(
  target: Target,
  archive: Archive,
  context: Context,
  { title, description, wait, json, startedAt }: DeployWishes,
): Promise<{ code: number; build: SingleBuildReply }> {
  const { terminal, signal, environment } = context;
  const { id, url } = await create(target, { title, description }, wait, context);
  const followed = await cancelOnFailure(target, id, context, async (sent) => {
    await upload(url, archive, context);
    sent();
    // A machine that cannot keep the archive deploys all the same; `slipway promote` then says that it is not kept.
    const keeping = keepArchive(environment, id, { ...archive, title: title ?? null }).catch(() => undefined);
    const finished = await followBuild(target, id, terminal, signal);
    await keeping;
    return finished;
  });
  return { build: followed.build, code: await reportOutcome(target, followed, { terminal, json, startedAt }) };
}

const conflict = z.object({ build: z.object({ id: z.string(), status: z.string(), createdAt: z.string() }) });

async function create(
  target: Target,
  texts: { title: string | undefined; description: string | undefined },
  wait: boolean,
  { terminal, signal }: Context,
): Promise<{ id: string; url: string }> {
  while (true) {
    try {
      // Not interruptible: a build whose id is not yet known could not be canceled and would keep the project locked.
      const { build, url } = await target.client.createBuild(
        { ...target.project, ...texts },
        { idempotencyKey: randomUUID() },
      );
      terminal.note(`Build ${build.id}.`);
      return { id: build.id, url };
    } catch (error) {
      const running =
        error instanceof SlipwayError && error.status === 409 ? conflict.safeParse(error.body).data : null;
      if (!running) throw error;
      const { id, status, createdAt } = running.build;
      if (!wait) {
        throw new Failure(
          `Build ${id} of this project is in progress (${status}, since ${createdAt}). Use --wait to deploy after it, ` +
            `slipway status ${id} to look at it, or slipway cancel ${id} to stop it.`,
          { cause: error },
        );
      }
      terminal.note(`Waiting for build ${id} (${status}) to end.`);
      await waitForBuild(target.client, { ...target.project, buildId: id }, { signal });
    }
  }
}

/** A build without its archive would lock the project for an hour, so it is canceled, and so is a build that Ctrl-C ends. */
export async function cancelOnFailure<T>(
  { client, project }: Target,
  buildId: string,
  { terminal, signal }: Context,
  work: (sent: () => void) => Promise<T>,
): Promise<T> {
  let isSent = false;
  try {
    signal.throwIfAborted();
    return await work(() => {
      isSent = true;
    });
  } catch (error) {
    if (isSent && !signal.aborted) {
      terminal.note(`Build ${buildId} continues; see its state with: slipway status ${buildId}`);
      throw error;
    }
    await client.cancelBuild({ ...project, buildId }).then(
      () => terminal.note(`Canceled build ${buildId}.`),
      (refusal: unknown) => {
        const reason = refusal instanceof Error ? refusal.message : String(refusal);
        terminal.note(`Build ${buildId} could not be canceled: ${printable(reason)}`);
      },
    );
    throw error;
  }
}

async function upload(url: string, archive: Archive, { terminal, signal }: Context): Promise<void> {
  const since = performance.now();
  const onProgress = ({ sentBytes, totalBytes }: { sentBytes: number; totalBytes: number }) =>
    terminal.progress(`Uploading ${barText(sentBytes, totalBytes)} of ${bytesText(totalBytes)}`);
  await uploadArchive(url, archive.path, { signal, onProgress });
  terminal.note(`Uploaded ${bytesText(archive.size)} in ${durationText(performance.now() - since)}.`);
}
