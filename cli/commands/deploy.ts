import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import * as z from "zod";
import { SlipwayError } from "../../sdk/errors.ts";
import { uploadArchive } from "../../sdk/upload-archive.ts";
import { waitForBuild } from "../../sdk/wait-for-build.ts";
import { type Context, command, serviceOptions } from "../command.ts";
import { openTarget, type Target } from "../configuration.ts";
import { checkTarget } from "../explain.ts";
import { Failure } from "../failure.ts";
import { leftOutOf } from "../folder/left-out.ts";
import { checkSize, type PackedArchive, packFolder } from "../folder/pack.ts";
import { type Selection, selectFiles } from "../folder/select-files.ts";
import { followBuild, reportOutcome } from "../follow-build.ts";
import { barText, bytesText, durationText, printable } from "../terminal.ts";
import { readVariables, storeVariables } from "../variables.ts";

/** `slipway deploy <folder>`: packs, uploads, builds and starts a folder's app. */
export const deploy = command({
  details:
    "Not sent: files that .gitignore and .dockerignore name, .git, node_modules, .venv, __pycache__, .slipway and .env files.",
  operands: { shown: "<folder>", min: 1, max: 1 },
  options: {
    title: { type: "string", value: "text", describe: "the build's title, at most 128 characters" },
    description: { type: "string", value: "text", describe: "the build's description, at most 4096 characters" },
    "env-file": { type: "string", value: "file", describe: "set the project's variables from this file first" },
    wait: { type: "boolean", describe: "wait for a build in progress to end, then deploy" },
    ...serviceOptions,
  },
  run: async (args, context) => {
    const { terminal, workingFolder, signal } = context;
    const startedAt = performance.now();
    const [folder = "."] = args.operands;
    const envFile = args.text("env-file");
    const variables = envFile === undefined ? null : readVariables(resolve(workingFolder, envFile));
    const selection = selectFiles(resolve(workingFolder, folder));
    checkSize(selection);
    const target = await openTarget(args, context);
    await checkTarget(target);
    using archive = await pack(selection, context);
    if (variables !== null) terminal.note(`Set ${(await storeVariables(target, variables)).join(", ")}.`);
    const texts = { title: args.text("title"), description: args.text("description") };
    const { id, url } = await create(target, texts, args.flag("wait"), context);
    const build = await cancelOnFailure(target, id, context, async (sent) => {
      await upload(url, archive, context);
      sent();
      return followBuild(target, id, terminal, signal);
    });
    const code = await reportOutcome(target, build, { terminal, json: args.flag("json"), startedAt });
    const reason = leftOutOf(resolve(workingFolder, folder), build.error ?? "");
    if (reason !== undefined) terminal.note(printable(reason), "yellow");
    return code;
  },
});

async function pack(selection: Selection, { terminal, signal }: Context): Promise<PackedArchive> {
  const onProgress = ({ readBytes, totalBytes }: { readBytes: number; totalBytes: number }) =>
    terminal.progress(`Packing ${barText(readBytes, totalBytes)} of ${bytesText(totalBytes)}`);
  const archive = await packFolder(selection, { signal, onProgress });
  const files = archive.fileCount === 1 ? "1 file" : `${archive.fileCount} files`;
  terminal.note(`Packed ${files}, ${bytesText(archive.size)}.`);
  if (selection.environmentFiles.length > 0) {
    const [first, ...others] = selection.environmentFiles.map(printable);
    const names = others.length === 0 ? first : `${first} and ${others.length} more`;
    terminal.note(`Not sent: ${names}. Set variables with slipway env set or --env-file.`);
  }
  return archive;
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
async function cancelOnFailure<T>(
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

async function upload(url: string, archive: PackedArchive, { terminal, signal }: Context): Promise<void> {
  const since = performance.now();
  const onProgress = ({ sentBytes, totalBytes }: { sentBytes: number; totalBytes: number }) =>
    terminal.progress(`Uploading ${barText(sentBytes, totalBytes)} of ${bytesText(totalBytes)}`);
  await uploadArchive(url, archive.path, { signal, onProgress });
  terminal.note(`Uploaded ${bytesText(archive.size)} in ${durationText(performance.now() - since)}.`);
}
