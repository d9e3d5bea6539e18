import { useState } from "preact/hooks";
import { client } from "../api.ts";
import { Button } from "../components/button.tsx";
import { Snippet } from "../components/copy.tsx";
import { ConfirmByName, Dialog } from "../components/dialog.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { TextField } from "../components/field.tsx";
import { DialogForm } from "../components/form.tsx";
import { Loading } from "../components/loading.tsx";
import { Page } from "../components/shell.tsx";
import { Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { UserText } from "../components/user-text.tsx";
import { fieldErrors } from "../explain.ts";
import { useLoad } from "../load.ts";
import { useMutation } from "../mutation.ts";
import { useProject } from "../paths.ts";

const keysMax = 3;

interface Key {
  id: number;
  access: string;
  description: string;
}

interface Created {
  access: string;
  secret?: string | undefined;
}

/** A new key with its secret, which no later answer contains. */
function CreatedKey({ created, onClose }: { created: Created; onClose: () => void }) {
  const { access, secret } = created;
  if (secret === undefined) {
    return (
      <div class="prose">
        <p>
          The key was made, but its secret could not be shown, because the first answer was lost. Delete the key and
          make another.
        </p>
        <footer>
          <Button onClick={onClose}>Done</Button>
        </footer>
      </div>
    );
  }
  return (
    <div class="prose">
      <p>
        <strong>Copy the secret now: it is shown only once.</strong> Register both as variables of the app, or keep them
        in a password manager.
      </p>
      <Snippet text={`SERVICE_ACCESS_KEY=${access}\nSERVICE_SECRET_KEY=${secret}`} what="the key as variables" />
      <Snippet text={`${access}:${secret}`} what="the key as a bearer" />
      <footer>
        <Button kind="primary" onClick={onClose}>
          I have copied it
        </Button>
      </footer>
    </div>
  );
}

function CreateDialog({ onClose }: { onClose: () => void }) {
  const { ids } = useProject();
  const [description, setDescription] = useState("");
  const [created, setCreated] = useState<Created | undefined>(undefined);
  const create = useMutation((_: undefined, call) => client.createCredential({ ...ids, description }, call), {
    refreshes: `keys/${ids.projectId}`,
    onDone: ({ credential }) => setCreated(credential),
  });
  return (
    <Dialog title={created ? "Your new key" : "Create key"} onClose={onClose} wide={created !== undefined}>
      {created ? (
        <CreatedKey created={created} onClose={onClose} />
      ) : (
        <DialogForm of={create} onSubmit={() => void create.run()} action="Create key" onClose={onClose}>
          <TextField
            label="Description"
            hint="What the key is for, such as “production app”."
            value={description}
            onInput={setDescription}
            error={fieldErrors(create.error).description}
            autofocus
          />
        </DialogForm>
      )}
    </Dialog>
  );
}

function RevokeDialog({ credential, onClose }: { credential: Key; onClose: () => void }) {
  const { ids } = useProject();
  const revoke = useMutation((_: string) => client.deleteCredential({ ...ids, credentialId: credential.id }), {
    refreshes: `keys/${ids.projectId}`,
  });
  return (
    <ConfirmByName
      title="Delete key"
      name={credential.description || credential.access}
      action="Delete key"
      mutation={revoke}
      onClose={onClose}
    >
      <p>Requests with this key are refused from then on. Apps that use it stop working.</p>
    </ConfirmByName>
  );
}

export function KeysPage() {
  const { ids } = useProject();
  const [isCreating, setCreating] = useState(false);
  const [revoked, setRevoked] = useState<Key | undefined>(undefined);
  const keys = useLoad(`keys/${ids.projectId}`, (signal) => client.listCredentials(ids, { signal }));
  const count = keys.data?.credentials.length ?? 0;
  return (
    <Page
      title="Keys"
      about={`A key may use the whole API of the organization. A project has at most ${keysMax}; an app with the SDK needs none.`}
      actions={
        <Button kind="primary" onClick={() => setCreating(true)} disabled={count >= keysMax}>
          Create key
        </Button>
      }
    >
      {count >= keysMax && <p class="note">The project has {keysMax} keys. Use one of them, or delete one first.</p>}
      <Loading of={keys} what="keys">
        {({ credentials }) =>
          credentials.length === 0 ? (
            <EmptyState title="No keys yet">
              <p>Programs outside of Slipway, such as a CI job, need a key. Create one, and store its secret there.</p>
            </EmptyState>
          ) : (
            <Table
              label="Keys"
              rows={credentials}
              rowKey={({ id }) => id}
              columns={[
                { head: "Description", cell: ({ description }) => <UserText>{description || "—"}</UserText> },
                { head: "Access key", cell: ({ access }) => <UserText mono>{access}</UserText> },
                { head: "Created", cell: ({ createdAt }) => <Time at={createdAt} /> },
                {
                  head: "Last used",
                  cell: ({ lastUsedAt }) => (lastUsedAt ? <Time at={lastUsedAt} /> : <span class="muted">never</span>),
                },
                {
                  head: "",
                  cell: (key) => (
                    <span class="actions">
                      <Button
                        kind="danger"
                        label={`Delete ${key.description || key.access}`}
                        onClick={() => setRevoked(key)}
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
      {isCreating && <CreateDialog onClose={() => setCreating(false)} />}
      {revoked && <RevokeDialog credential={revoked} onClose={() => setRevoked(undefined)} />}
    </Page>
  );
}
