import { bytesText } from "../builds.ts";
import { explain } from "../explain.ts";
import type { Upload, Uploads } from "../uploads.ts";
import { Button } from "./button.tsx";
import { useDrop } from "./use-drop.ts";
import { UserText } from "./user-text.tsx";

function stateText({ state, sentBytes, size }: Upload): string {
  switch (state) {
    case "waiting":
      return "Waiting";
    case "sending":
      return `${bytesText(sentBytes)} of ${bytesText(size)}`;
    case "done":
      return "Uploaded";
    case "failed":
      return "Failed";
  }
}

function UploadRow({ upload, uploads }: { upload: Upload; uploads: Uploads }) {
  const { id, name, state, size, sentBytes, error } = upload;
  const explained = error === undefined ? undefined : explain(error);
  return (
    <li class="upload">
      <div class="page-head">
        <span class="grow">
          <UserText>{name}</UserText> <span class="muted">{stateText(upload)}</span>
        </span>
        <span class="actions">
          {state === "failed" && (
            <Button label={`Try ${name} again`} onClick={() => uploads.retry(id)}>
              Try again
            </Button>
          )}
          <Button
            kind="quiet"
            label={state === "done" ? `Hide ${name}` : `Cancel ${name}`}
            onClick={() => uploads.remove(id)}
          >
            {state === "done" ? "Hide" : "Cancel"}
          </Button>
        </span>
      </div>
      {(state === "sending" || state === "waiting") && (
        <progress aria-label={`Upload of ${name}`} max={Math.max(size, 1)} value={sentBytes} />
      )}
      {explained && (
        <p class="field-error" role="alert">
          {explained.text} {explained.advice}
        </p>
      )}
    </li>
  );
}

/** Takes files by drag and drop or by a file dialog, and shows the state of their uploads. */
export function UploadArea({ uploads }: { uploads: Uploads }) {
  const { isOver, handlers } = useDrop(({ files }) => uploads.add(files));
  return (
    <section class="prose" aria-label="Upload">
      <label class={`drop-files${isOver ? " over" : ""}`} {...handlers}>
        <span>
          Drop files here, or <u>choose them</u>.
        </span>
        <input
          type="file"
          class="visually-hidden"
          multiple
          aria-label="Choose files to upload"
          onChange={(event) => {
            uploads.add(event.currentTarget.files ?? []);
            event.currentTarget.value = "";
          }}
        />
      </label>
      {uploads.list.length > 0 && (
        <ul class="uploads">
          {uploads.list.map((upload) => (
            <UploadRow key={upload.id} upload={upload} uploads={uploads} />
          ))}
        </ul>
      )}
    </section>
  );
}
