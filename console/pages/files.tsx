import { useState } from "preact/hooks";
import { useRoute } from "preact-iso/router";
import type { FileReply } from "../../api/storage.ts";
import { client } from "../api.ts";
import { bytesText } from "../builds.ts";
import { Button } from "../components/button.tsx";
import { ConfirmByName } from "../components/dialog.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { ErrorMessage } from "../components/error-message.tsx";
import { Loading } from "../components/loading.tsx";
import { Page } from "../components/shell.tsx";
import { ShowMore } from "../components/show-more.tsx";
import { Status } from "../components/status.tsx";
import { Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { UploadArea } from "../components/upload-list.tsx";
import { UserText } from "../components/user-text.tsx";
import { previewOf } from "../file-preview.ts";
import { useLoad } from "../load.ts";
import { useMutation } from "../mutation.ts";
import { usePaged } from "../paged.ts";
import { paths, useOrgId } from "../paths.ts";
import { useUploads } from "../uploads.ts";
import { PreviewDialog } from "./files-preview.tsx";

interface StorageIds {
  orgId: string;
  storageId: string;
}

function DeleteDialog({ ids, file, onClose }: { ids: StorageIds; file: FileReply; onClose: () => void }) {
  const remove = useMutation((_: string) => client.deleteFile({ ...ids, fileId: file.id }), {
    refreshes: `files/${ids.storageId}`,
  });
  return (
    <ConfirmByName title="Delete file" name={file.name} action="Delete file" mutation={remove} onClose={onClose}>
      <p>The file will be gone for good, also for the apps that use it.</p>
    </ConfirmByName>
  );
}

/** Saves a file to the computer; the address is valid for an hour. */
function DownloadButton({ ids, file }: { ids: StorageIds; file: FileReply }) {
  const download = useMutation((_: undefined) => client.getFile({ ...ids, fileId: file.id }), {
    onDone: (reply) => {
      const link = document.createElement("a");
      link.href = reply.file.url;
      link.download = "";
      link.click();
    },
  });
  return (
    <>
      <Button label={`Download ${file.name}`} onClick={() => void download.run()} busy={download.busy}>
        Download
      </Button>
      <ErrorMessage of={download} />
    </>
  );
}

type Opened = { dialog: "preview" | "delete"; file: FileReply };

function FileTable({ ids, files }: { ids: StorageIds; files: readonly FileReply[] }) {
  const [opened, setOpened] = useState<Opened | undefined>(undefined);
  const close = () => setOpened(undefined);
  return (
    <>
      <Table<FileReply>
        label="Files"
        rows={files}
        rowKey={({ id }) => id}
        columns={[
          { head: "Name", cell: ({ name }) => <UserText>{name}</UserText> },
          { head: "Type", cell: ({ mime }) => <UserText>{mime}</UserText> },
          {
            head: "Size",
            cell: ({ size, status }) =>
              status === "pending" ? <Status tone="busy">Not uploaded</Status> : bytesText(size),
            align: "end",
          },
          { head: "Added", cell: ({ createdAt }) => <Time at={createdAt} /> },
          {
            head: "",
            cell: (file) => (
              <span class="actions">
                {file.status === "active" && previewOf(file) !== "none" && (
                  <Button label={`Show ${file.name}`} onClick={() => setOpened({ dialog: "preview", file })}>
                    Show
                  </Button>
                )}
                {file.status === "active" && <DownloadButton ids={ids} file={file} />}
                <Button
                  kind="danger"
                  label={`Delete ${file.name}`}
                  onClick={() => setOpened({ dialog: "delete", file })}
                >
                  Delete
                </Button>
              </span>
            ),
          },
        ]}
      />
      {opened?.dialog === "delete" && <DeleteDialog ids={ids} file={opened.file} onClose={close} />}
      {opened?.dialog === "preview" && <PreviewDialog ids={ids} file={opened.file} onClose={close} />}
    </>
  );
}

/** The files of one storage. */
export function FilesPage() {
  const orgId = useOrgId();
  const storageId = useRoute().params.storageId ?? "";
  const ids = { orgId, storageId };
  const uploads = useUploads(ids);
  const storages = useLoad(
    `storages/${orgId}`,
    async (signal) => (await client.listStorages({ orgId }, { signal })).storages,
  );
  const files = usePaged(`files/${storageId}`, async (cursor, signal) => {
    const page = await client.listFiles({ ...ids, cursor }, { signal });
    return { items: page.files, nextCursor: page.nextCursor };
  });
  const name = storages.data?.find(({ id }) => id === storageId)?.name;
  return (
    <Page title={name ?? "Files"} about={<a href={`${paths.organization(orgId)}/storages`}>All storages</a>}>
      <UploadArea uploads={uploads} />
      <Loading of={files} what="files">
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState title="No files yet">
              <p>Files that you or your apps upload are listed here. Drop one above to begin.</p>
            </EmptyState>
          ) : (
            <FileTable ids={ids} files={items} />
          )
        }
      </Loading>
      <ShowMore of={files} what="files" />
    </Page>
  );
}
