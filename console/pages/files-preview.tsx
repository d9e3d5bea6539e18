import { useState } from "preact/hooks";
import type { FileReply } from "../../api/storage.ts";
import { client } from "../api.ts";
import { bytesText } from "../builds.ts";
import { Dialog } from "../components/dialog.tsx";
import { Loading } from "../components/loading.tsx";
import { previewOf } from "../file-preview.ts";
import { useLoad } from "../load.ts";

interface Shown {
  url: string;
  /** The content of a text. */
  text: string | undefined;
}

/** A text from its download address, which is of another origin. */
async function textAt(url: string, signal: AbortSignal): Promise<string> {
  const answer = await fetch(url, { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw new Error("The file could not be loaded. Check the connection and try again.", { cause: error });
  });
  if (!answer.ok) throw new Error(`The file could not be loaded (${answer.status}).`);
  return answer.text();
}

function Image({ url, name }: { url: string; name: string }) {
  const [isBroken, setBroken] = useState(false);
  if (isBroken) return <p class="note">The file is no image that this browser can show.</p>;
  return <img class="preview" src={url} alt={name} onError={() => setBroken(true)} />;
}

interface PreviewProps {
  ids: { orgId: string; storageId: string };
  file: FileReply;
  onClose: () => void;
}

/** Shows an image or a text. */
export function PreviewDialog({ ids, file, onClose }: PreviewProps) {
  const preview = previewOf(file);
  const content = useLoad<Shown>(preview === "too_large" ? undefined : `preview/${file.id}`, async (signal) => {
    const { url } = (await client.getFile({ ...ids, fileId: file.id }, { signal })).file;
    return { url, text: preview === "text" ? await textAt(url, signal) : undefined };
  });
  return (
    <Dialog title={file.name} onClose={onClose} wide>
      <div class="prose">
        {preview === "too_large" ? (
          <p class="note">The file has {bytesText(file.size)}, which is too large to be shown. Download it.</p>
        ) : (
          <Loading of={content} what="the file">
            {({ url, text }) =>
              text === undefined ? (
                <Image url={url} name={file.name} />
              ) : (
                // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
                <pre class="preview" tabIndex={0} dir="auto">
                  {text}
                </pre>
              )
            }
          </Loading>
        )}
      </div>
    </Dialog>
  );
}
