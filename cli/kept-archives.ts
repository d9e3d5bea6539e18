import { createHash } from "node:crypto";
import { constants, createReadStream } from "node:fs";
import { copyFile, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import * as z from "zod";
import { cacheFolder } from "./cache-folder.ts";
import type { Context } from "./command.ts";
import { Failure } from "./failure.ts";

const keptMax = 5;
const keptSchema = z.object({ sha256: z.string(), size: z.int(), title: z.string().nullable() });

/** An archive that this machine deployed, with what proves that it is still the same. */
export interface KeptArchive extends z.output<typeof keptSchema> {
  path: string;
}

const folderOf = (environment: Context["environment"]) => join(cacheFolder(environment), "archives");

async function sha256Of(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

/** Keeps a copy of a deployed archive for `slipway promote`, and of the older ones only the newest. */
export async function keepArchive(
  environment: Context["environment"],
  buildId: string,
  { path, size, title }: { path: string; size: number; title: string | null },
): Promise<void> {
  const folder = folderOf(environment);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const copy = join(folder, `${buildId}.zip`);
  try {
    // Most file systems of today share the blocks of a copy.
    await copyFile(path, copy, constants.COPYFILE_FICLONE);
  } catch (error) {
    // On a full disk, what was copied so far would keep it full.
    await rm(copy, { force: true });
    throw error;
  }
  await writeFile(join(folder, `${buildId}.json`), JSON.stringify({ sha256: await sha256Of(copy), size, title }), {
    mode: 0o600,
  });
  // Ids of builds sort by time.
  const builds = (await readdir(folder)).filter((name) => name.endsWith(".zip")).toSorted();
  for (const name of builds.slice(0, -keptMax)) {
    await rm(join(folder, name), { force: true });
    await rm(join(folder, name.replace(/zip$/, "json")), { force: true });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The archive of a build, after its bytes were checked; throws if it is not on this machine, or changed. */
export async function keptArchive(environment: Context["environment"], buildId: string): Promise<KeptArchive> {
  const folder = folderOf(environment);
  const path = join(folder, `${buildId}.zip`);
  const text = await readFile(join(folder, `${buildId}.json`), "utf8").catch((cause: unknown) => {
    throw new Failure(
      `The archive of build ${buildId} is not kept on this machine: another machine deployed it, or more than ` +
        `${keptMax} deployments ago. Promote from that machine, or deploy the folder again with: slipway deploy`,
      { cause },
    );
  });
  const kept = keptSchema.safeParse(parsed(text));
  const isSame =
    kept.success &&
    (await stat(path).then(
      async ({ size }) => size === kept.data.size && (await sha256Of(path)) === kept.data.sha256,
      () => false,
    ));
  if (!kept.success || !isSame) {
    throw new Failure(`${path} is not the archive that was deployed any more. Deploy the folder with: slipway deploy`);
  }
  return { path, ...kept.data };
}
