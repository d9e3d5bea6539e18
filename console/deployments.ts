import { signal } from "@preact/signals";
import { AuthenticationError, DeploymentError } from "../sdk/browser.ts";
import { client } from "./api.ts";
import type { Source } from "./archive/dropped.ts";
import { zip } from "./archive/zip.ts";
import type { ProjectIds } from "./builds.ts";
import { refresh } from "./load.ts";

/** A deployment from this tab until its archive has arrived; after that, the build's page shows its progress. */
export type Deployment =
  | { step: "packing"; files: number; of: number }
  | { step: "sending"; sentBytes: number; totalBytes: number }
  | { step: "failed"; error: unknown };

/** The deployments of this tab by project. They continue while other pages are shown. */
export const deployments = signal<Readonly<Record<string, Deployment>>>({});

const stops = new Map<string, AbortController>();

function show(projectId: string, deployment: Deployment | undefined): void {
  const { [projectId]: _, ...others } = deployments.value;
  deployments.value = deployment ? { ...others, [projectId]: deployment } : others;
  const isBusy = Object.values(deployments.value).some(({ step }) => step !== "failed");
  // The browser asks before it closes a tab that is still sending.
  window.onbeforeunload = isBusy ? (event) => event.preventDefault() : null;
}

/** Packs, sends and builds; resolves with the build's id as soon as the archive has arrived, undefined if that failed. */
export function deploy(ids: ProjectIds, source: Source, title: string): Promise<string | undefined> {
  const { projectId } = ids;
  const stop = new AbortController();
  stops.set(projectId, stop);
  return new Promise((resolve) => {
    const run = async () => {
      const { content } = source;
      if (Array.isArray(content)) show(projectId, { step: "packing", files: 0, of: content.length });
      const archive = Array.isArray(content)
        ? await zip(content, {
            signal: stop.signal,
            onFile: (files) => show(projectId, { step: "packing", files, of: content.length }),
          })
        : content;
      show(projectId, { step: "sending", sentBytes: 0, totalBytes: archive.size });
      await client.deploy(archive, {
        ...ids,
        ...(title.trim() && { title: title.trim() }),
        signal: stop.signal,
        onProgress: (progress) => {
          // Only Node.js packs folders in the client.
          if (progress.stage === "packing") return;
          if (progress.stage === "uploading") return show(projectId, { step: "sending", ...progress });
          show(projectId, undefined);
          stops.delete(projectId);
          refresh(`builds/${projectId}`);
          resolve(progress.build.id);
        },
      });
    };
    run()
      .catch((error: unknown) => {
        // The build's page shows how the build ended, and that the session ended.
        if (error instanceof DeploymentError || (error instanceof AuthenticationError && !stops.has(projectId))) return;
        show(projectId, stop.signal.aborted ? undefined : { step: "failed", error });
        resolve(undefined);
      })
      .finally(() => {
        if (stops.get(projectId) === stop) stops.delete(projectId);
        refresh(`builds/${projectId}`);
      });
  });
}

/** Stops sending: the build is canceled. */
export function stopDeployment(projectId: string): void {
  stops.get(projectId)?.abort(new Error("You stopped the deployment."));
}
