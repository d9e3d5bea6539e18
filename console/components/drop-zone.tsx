import { useRef, useState } from "preact/hooks";
import { chosen, dropped, type Source } from "../archive/dropped.ts";
import { bytesText, type ProjectIds } from "../builds.ts";
import { type Deployment, deploy, deployments, stopDeployment } from "../deployments.ts";
import { paths, useGo } from "../paths.ts";
import { Button } from "./button.tsx";
import { ErrorMessage } from "./error-message.tsx";
import { TextField } from "./field.tsx";
import { Form } from "./form.tsx";
import { useDrop } from "./use-drop.ts";
import { UserText } from "./user-text.tsx";

function Progress({ deployment, onStop }: { deployment: Deployment; onStop: () => void }) {
  if (deployment.step === "failed") return null;
  const [done, all, text] =
    deployment.step === "packing"
      ? [deployment.files, deployment.of, `Packing file ${deployment.files} of ${deployment.of}`]
      : [
          deployment.sentBytes,
          deployment.totalBytes,
          `Sending ${bytesText(deployment.sentBytes)} of ${bytesText(deployment.totalBytes)}`,
        ];
  return (
    <div class="progress-row">
      <label>
        {text}
        <progress value={done} max={all || 1} />
      </label>
      <Button onClick={onStop}>Stop</Button>
    </div>
  );
}

/** Takes a zip or a folder by drag and drop or by a file dialog, deploys it, and goes to the build's page. */
export function DropZone({ ids }: { ids: ProjectIds }) {
  const go = useGo();
  const zipInput = useRef<HTMLInputElement>(null);
  const folderInput = useRef<HTMLInputElement | null>(null);
  const [source, setSource] = useState<Source | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const [title, setTitle] = useState("");
  const deployment = deployments.value[ids.projectId];
  const failure = deployment?.step === "failed" ? deployment.error : undefined;
  const isBusy = deployment !== undefined && deployment.step !== "failed";

  const take = (reading: Promise<Source>) => {
    setError(undefined);
    reading.then(setSource, (reason: unknown) => {
      setSource(undefined);
      setError(reason);
    });
  };
  const { isOver, handlers } = useDrop((transfer) => {
    if (!isBusy) take(dropped(transfer));
  });
  const takeFiles = (input: HTMLInputElement) => {
    const files = [...(input.files ?? [])];
    // The same folder can be chosen again.
    input.value = "";
    if (files.length > 0) take(chosen(files));
  };
  const start = async () => {
    if (!source) return;
    const buildId = await deploy(ids, source, title);
    if (buildId === undefined) return;
    setSource(undefined);
    setTitle("");
    go(paths.build(ids.orgId, ids.projectId, buildId));
  };

  return (
    <section class={isOver ? "drop over" : "drop"} aria-label="Deploy from this browser" {...handlers}>
      {isBusy ? (
        <Progress deployment={deployment} onStop={() => stopDeployment(ids.projectId)} />
      ) : source ? (
        <Form onSubmit={() => void start()}>
          <p>
            <UserText strong>{source.name}</UserText>
            {Array.isArray(source.content)
              ? `: ${source.content.length} file${source.content.length === 1 ? "" : "s"}`
              : `, ${bytesText(source.content.size)}`}
            {source.leftOut.length > 0 && (
              <span class="muted">
                {" "}
                · left out: <UserText>{source.leftOut.slice(0, 6).join(", ")}</UserText>
                {source.leftOut.length > 6 && ` and ${source.leftOut.length - 6} more`}
              </span>
            )}
          </p>
          <TextField label="Title of the build (optional)" value={title} onInput={setTitle} maxLength={128} />
          <ErrorMessage of={{ error: failure, retry: () => void start() }} />
          <div class="actions">
            <Button type="submit" kind="primary">
              Deploy
            </Button>
            <Button onClick={() => setSource(undefined)}>Choose something else</Button>
          </div>
        </Form>
      ) : (
        <>
          <p>
            <strong>Drop a folder or a zip here</strong>
            <span class="muted"> and watch it deploy. node_modules, .git and .env files are left out.</span>
          </p>
          <div class="actions">
            <Button onClick={() => folderInput.current?.click()}>Choose a folder</Button>
            <Button onClick={() => zipInput.current?.click()}>Choose a zip</Button>
          </div>
        </>
      )}
      <ErrorMessage of={{ error: error ?? (source ? undefined : failure) }} />
      <input
        ref={zipInput}
        type="file"
        accept=".zip,application/zip"
        hidden
        aria-label="Zip"
        onChange={(event) => takeFiles(event.currentTarget)}
      />
      <input
        ref={(input) => {
          folderInput.current = input;
          if (input) input.webkitdirectory = true;
        }}
        type="file"
        hidden
        aria-label="Folder"
        onChange={(event) => takeFiles(event.currentTarget)}
      />
    </section>
  );
}
