import { resolve } from "node:path";
import { leftOutOf } from "../../sdk/folder/left-out.ts";
import { checkSize, type PackedArchive, packFolder } from "../../sdk/folder/pack.ts";
import { type Selection, selectFiles } from "../../sdk/folder/select-files.ts";
import { type Context, command, serviceOptions } from "../command.ts";
import { openTarget, type Target } from "../configuration.ts";
import { deployArchive } from "../deploy-archive.ts";
import { checkTarget } from "../explain.ts";
import { barText, bytesText, printable, type Terminal } from "../terminal.ts";
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
    const { terminal, workingFolder } = context;
    const startedAt = performance.now();
    const [folder = "."] = args.operands;
    const envFile = args.text("env-file");
    const variables = envFile === undefined ? null : readVariables(resolve(workingFolder, envFile));
    const selection = selectFiles(resolve(workingFolder, folder));
    checkSize(selection);
    const target = await openTarget(args, context);
    using archive = await packWhileChecking(target, selection, context);
    tellPacked(archive, selection, terminal);
    if (variables !== null) terminal.note(`Set ${(await storeVariables(target, variables)).join(", ")}.`);
    const { code, build } = await deployArchive(target, archive, context, {
      title: args.text("title"),
      description: args.text("description"),
      wait: args.flag("wait"),
      json: args.flag("json"),
      startedAt,
    });
    const reason = leftOutOf(resolve(workingFolder, folder), build.error ?? "");
    if (reason !== undefined) terminal.note(printable(reason), "yellow");
    return code;
  },
});

/** Packs the folder while the service checks the key and the project; a refusal ends the packing. */
async function packWhileChecking(target: Target, selection: Selection, context: Context): Promise<PackedArchive> {
  const refused = new AbortController();
  const checked = checkTarget(target);
  checked.catch((error: unknown) => refused.abort(error));
  const onProgress = ({ readBytes, totalBytes }: { readBytes: number; totalBytes: number }) =>
    context.terminal.progress(`Packing ${barText(readBytes, totalBytes)} of ${bytesText(totalBytes)}`);
  const signal = AbortSignal.any([context.signal, refused.signal]);
  const archive = await packFolder(selection, { signal, onProgress });
  try {
    await checked;
    return archive;
  } catch (error) {
    archive[Symbol.dispose]();
    throw error;
  }
}

function tellPacked(archive: PackedArchive, selection: Selection, terminal: Terminal): void {
  const files = archive.fileCount === 1 ? "1 file" : `${archive.fileCount} files`;
  terminal.note(`Packed ${files}, ${bytesText(archive.size)}.`);
  if (selection.environmentFiles.length === 0) return;
  const [first, ...others] = selection.environmentFiles.map(printable);
  const names = others.length === 0 ? first : `${first} and ${others.length} more`;
  terminal.note(`Not sent: ${names}. Set variables with slipway env set or --env-file.`);
}
