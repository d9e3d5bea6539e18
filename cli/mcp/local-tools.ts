import { randomUUID } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, relative, resolve, sep } from "node:path";
import * as z from "zod";
import type { SingleBuildReply } from "../../api/builds.ts";
import { fenced } from "../../sdk/fence.ts";
import { leftOutOf } from "../../sdk/folder/left-out.ts";
import { checkSize, packFolder } from "../../sdk/folder/pack.ts";
import { selectFiles } from "../../sdk/folder/select-files.ts";
import { uploadArchive } from "../../sdk/upload-archive.ts";
import { waitForBuild } from "../../sdk/wait-for-build.ts";
import type { Target } from "../configuration.ts";
import { Failure } from "../failure.ts";

/** What a tool of this machine works with. */
export interface LocalCall {
  workingFolder: string;
  /** Aborted when the client cancels the call or is gone. */
  signal: AbortSignal;
  /** Says how far the work is; undefined if the client does not ask for it. */
  progress: ((message: string) => void) | undefined;
  openTarget: (ids: { orgId?: string | undefined; projectId?: string | undefined }) => Promise<Target>;
  /** The service's own tool `get_build`: its text. */
  buildText: (ids: { orgId: string; projectId: string; buildId: string }) => Promise<string>;
}

interface LocalTool {
  name: string;
  description: string;
  input: z.ZodObject;
  annotations: { readOnlyHint: boolean; destructiveHint?: boolean };
  run: (input: Record<string, unknown>, call: LocalCall) => Promise<{ text: string; isError?: boolean }>;
}

/** Whether a path is a folder or something in it. */
const isWithin = (path: string, folder: string) => {
  const from = relative(folder, path);
  return from === "" || (from !== ".." && !from.startsWith(`..${sep}`));
};

/**
 * The folder that a model names. Everything in it would be published, so that folders which hold a user's own things are
 * refused: the home folder, those above it, and hidden ones in it.
 */
export function appFolder(workingFolder: string, folder: string, home = homedir()): string {
  const named = resolve(workingFolder, folder);
  if (!existsSync(named)) throw new Failure(`There is no folder ${named}.`);
  const path = realpathSync(named);
  const own = realpathSync(home);
  const isHidden = isWithin(path, own) && relative(own, path).startsWith(".");
  if (isWithin(own, path) || path === dirname(path) || (isHidden && !isWithin(path, realpathSync(workingFolder)))) {
    throw new Failure(`${path} is not the folder of an app. Name the folder that holds the app's files.`);
  }
  return path;
}

const analyzeInput = z.strictObject({
  folder: z.string().describe("Relative to the folder that the tools were started in"),
});

const analyze: LocalTool = {
  name: "analyze",
  description: "What the service would detect in a folder of this machine: runtime, commands, errors. Sends nothing.",
  input: analyzeInput,
  annotations: { readOnlyHint: true },
  run: async (input, { workingFolder }) => {
    const { folder } = analyzeInput.parse(input);
    // Loaded here, because the secret scanner is large.
    const { analyzePath } = await import("../analyze.ts");
    const report = await analyzePath(folder, appFolder(workingFolder, folder), { asDeployed: true });
    return { text: fenced(report) };
  },
};

/** Clients that show no progress give up on a call after a minute. */
const followSecondsMax = 45;
const progressSeconds = 5;

const deployInput = z.strictObject({
  folder: z.string(),
  projectId: z.string().optional().describe("Only needed if the folder is not linked to a project"),
  orgId: z.string().optional(),
  title: z.string().optional(),
  description: z.string().optional(),
});

const deploy: LocalTool = {
  name: "deploy",
  description:
    "Deploys the app in a folder of this machine and follows it: the address, or the failure with its evidence. Files that .gitignore names and .env files are not sent.",
  input: deployInput,
  annotations: { readOnlyHint: false, destructiveHint: false },
  run: async (input, call) => {
    const { folder, title, description, ...ids } = deployInput.parse(input);
    const path = appFolder(call.workingFolder, folder);
    const selection = selectFiles(path);
    checkSize(selection);
    const target = await call.openTarget(ids);
    const buildId = await send(target, selection, { title, description }, call);
    const build = await follow(target, buildId, call);
    const notSent = selection.environmentFiles;
    const notes = [
      await outcomeOf(target, build, buildId),
      ...(notSent.length > 0 ? [`Files with variables were not sent; use set_variable:\n${fenced(notSent)}`] : []),
      await call.buildText({ ...target.project, buildId }),
    ];
    const missing = leftOutOf(path, build?.error ?? "");
    if (missing !== undefined) notes.push(fenced(missing));
    return { text: notes.join("\n"), isError: build?.status === "error" };
  },
};

/** Packs and uploads the folder. A build without its archive would lock the project for an hour, so it is canceled. */
async function send(
  { client, project }: Target,
  selection: ReturnType<typeof selectFiles>,
  texts: { title: string | undefined; description: string | undefined },
  { signal, progress }: LocalCall,
): Promise<string> {
  progress?.("packing");
  using archive = await packFolder(selection, { signal });
  const { build, url } = await client.createBuild({ ...project, ...texts }, { idempotencyKey: randomUUID() });
  try {
    progress?.("uploading");
    await uploadArchive(url, archive.path, { signal });
    return build.id;
  } catch (error) {
    await client.cancelBuild({ ...project, buildId: build.id }).catch(() => undefined);
    throw error;
  }
}

/** Waits for the build's end; undefined if it takes longer than the client would wait. The build goes on if the call is canceled. */
async function follow(
  { client, project }: Target,
  buildId: string,
  { signal, progress }: LocalCall,
): Promise<SingleBuildReply | undefined> {
  let status = "pending";
  const ticking = progress && setInterval(() => progress(status), progressSeconds * 1000);
  const patience = progress ? undefined : AbortSignal.timeout(followSecondsMax * 1000);
  const onStatus = (build: SingleBuildReply) => {
    status = build.status;
    progress?.(status);
  };
  try {
    const stop = patience === undefined ? signal : AbortSignal.any([signal, patience]);
    return await waitForBuild(client, { ...project, buildId }, { signal: stop, onStatus });
  } catch (error) {
    if (!patience?.aborted) throw error;
    return undefined;
  } finally {
    clearInterval(ticking);
  }
}

async function outcomeOf(
  { client, project }: Target,
  build: SingleBuildReply | undefined,
  id: string,
): Promise<string> {
  if (build === undefined) return `Build ${id} is not finished: call get_build with waitSeconds 20.`;
  if (build.canceledAt !== null) return `Build ${id} was canceled.`;
  if (build.status !== "ready") return `Build ${id} failed.`;
  const { endpoints } = await client.listEndpoints(project);
  return `Build ${id} is live at ${endpoints.join(" and ")}`;
}

/** The tools that need the files of this machine. */
export const localTools: readonly LocalTool[] = [deploy, analyze];
