import { useState } from "preact/hooks";
import { fieldErrors } from "../explain.ts";
import type { Loaded } from "../load.ts";
import { type ChangeCall, useMutation } from "../mutation.ts";
import { useIsAdmin } from "../role.ts";
import { Button } from "./button.tsx";
import { ConfirmByName, Dialog } from "./dialog.tsx";
import { EmptyState } from "./empty-state.tsx";
import { TextField } from "./field.tsx";
import { DialogForm } from "./form.tsx";
import { Loading } from "./loading.tsx";
import { Table } from "./table.tsx";
import { Time } from "./time.tsx";
import { UserText } from "./user-text.tsx";

interface Named {
  id: string;
  name: string;
  createdAt: string;
}

/** The databases or the storages of an organization, and what is done with them. */
export interface ResourceKind {
  /** In the singular: "database". */
  what: string;
  /** The key of `useLoad` whose list shows them. */
  key: string;
  href: (id: string) => string;
  create: (name: string, call: ChangeCall) => Promise<unknown>;
  rename: (id: string, name: string) => Promise<unknown>;
  remove: (id: string, confirm: string) => Promise<unknown>;
  /** What an empty list says. */
  empty: string;
  /** What is deleted together with one of them. */
  lost: string;
}

interface NameDialogProps {
  kind: ResourceKind;
  resource?: Named | undefined;
  onClose: () => void;
}

/** Creates a resource, or renames the given one. */
function NameDialog({ kind, resource, onClose }: NameDialogProps) {
  const [name, setName] = useState(resource?.name ?? "");
  const save = useMutation(
    (_: undefined, call) => (resource ? kind.rename(resource.id, name) : kind.create(name, call)),
    { refreshes: kind.key, onDone: onClose },
  );
  const action = resource ? "Rename" : `Create ${kind.what}`;
  return (
    <Dialog title={resource ? `Rename ${kind.what}` : action} onClose={onClose}>
      <DialogForm of={save} onSubmit={() => void save.run()} action={action} onClose={onClose}>
        <TextField
          label="Name"
          value={name}
          onInput={setName}
          error={fieldErrors(save.error).name}
          required
          autofocus
        />
      </DialogForm>
    </Dialog>
  );
}

function DeleteDialog({ kind, resource, onClose }: { kind: ResourceKind; resource: Named; onClose: () => void }) {
  const remove = useMutation((confirm: string) => kind.remove(resource.id, confirm), { refreshes: kind.key });
  const action = `Delete ${kind.what}`;
  return (
    <ConfirmByName title={action} name={resource.name} action={action} mutation={remove} onClose={onClose}>
      <p>{kind.lost}</p>
    </ConfirmByName>
  );
}

/** The button that creates a resource; only admins see it. */
export function CreateResource({ kind }: { kind: ResourceKind }) {
  const [isOpen, setOpen] = useState(false);
  if (!useIsAdmin()) return null;
  return (
    <>
      <Button kind="primary" onClick={() => setOpen(true)}>
        {`Create ${kind.what}`}
      </Button>
      {isOpen && <NameDialog kind={kind} onClose={() => setOpen(false)} />}
    </>
  );
}

type Opened = { dialog: "rename" | "delete"; resource: Named };

/** The list of the resources with their names, as links to their pages. */
export function ResourceList({ kind, of: list }: { kind: ResourceKind; of: Loaded<readonly Named[]> }) {
  const isAdmin = useIsAdmin();
  const [opened, setOpened] = useState<Opened | undefined>(undefined);
  const close = () => setOpened(undefined);
  return (
    <>
      <Loading of={list} what={`${kind.what}s`}>
        {(resources) =>
          resources.length === 0 ? (
            <EmptyState title={`No ${kind.what}s yet`}>
              <p>{kind.empty}</p>
            </EmptyState>
          ) : (
            <Table<Named>
              label={`${kind.what.charAt(0).toUpperCase()}${kind.what.slice(1)}s`}
              rows={resources}
              rowKey={({ id }) => id}
              columns={[
                {
                  head: "Name",
                  cell: ({ id, name }) => (
                    <a href={kind.href(id)}>
                      <UserText strong>{name}</UserText>
                    </a>
                  ),
                },
                { head: "Id", cell: ({ id }) => <span class="mono muted">{id}</span> },
                { head: "Created", cell: ({ createdAt }) => <Time at={createdAt} /> },
                {
                  head: "",
                  cell: (resource) =>
                    isAdmin && (
                      <span class="actions">
                        <Button
                          label={`Rename ${resource.name}`}
                          onClick={() => setOpened({ dialog: "rename", resource })}
                        >
                          Rename
                        </Button>
                        <Button
                          kind="danger"
                          label={`Delete ${resource.name}`}
                          onClick={() => setOpened({ dialog: "delete", resource })}
                        >
                          Delete
                        </Button>
                      </span>
                    ),
                },
              ]}
            />
          )
        }
      </Loading>
      {opened?.dialog === "rename" && <NameDialog kind={kind} resource={opened.resource} onClose={close} />}
      {opened?.dialog === "delete" && <DeleteDialog kind={kind} resource={opened.resource} onClose={close} />}
    </>
  );
}
