import { useState } from "preact/hooks";
import { client } from "../api.ts";
import { Button } from "../components/button.tsx";
import { Copy } from "../components/copy.tsx";
import { ConfirmByName } from "../components/dialog.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { Loading } from "../components/loading.tsx";
import { RebuildNotice } from "../components/rebuild-notice.tsx";
import { Page } from "../components/shell.tsx";
import { Status } from "../components/status.tsx";
import { Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { UserText } from "../components/user-text.tsx";
import { useLiveBuild } from "../live-build.ts";
import { useLoad } from "../load.ts";
import { useMutation } from "../mutation.ts";
import { useProject } from "../paths.ts";
import { EnvFileDialog } from "./variables-env-file.tsx";
import { type Variable, VariableDialog } from "./variables-form.tsx";

/** A value, hidden until the person wants to see it. */
function Value({ variable }: { variable: Variable }) {
  const [isShown, setShown] = useState(false);
  const { name, value } = variable;
  return (
    <span class="secret-value">
      {isShown ? <UserText mono>{value}</UserText> : <span class="muted">••••••••</span>}
      <Button kind="quiet" label={`${isShown ? "Hide" : "Show"} ${name}`} onClick={() => setShown(!isShown)}>
        {isShown ? "Hide" : "Show"}
      </Button>
      <Copy text={value} what={`the value of ${name}`} />
    </span>
  );
}

function DeleteDialog({ variable, onClose }: { variable: Variable; onClose: () => void }) {
  const { ids } = useProject();
  const remove = useMutation((_: string) => client.deleteEnvironment({ ...ids, envId: variable.id }), {
    refreshes: [`variables/${ids.projectId}`, `deleted-variables/${ids.projectId}`],
  });
  return (
    <ConfirmByName
      title="Delete variable"
      name={variable.name}
      action="Delete variable"
      mutation={remove}
      onClose={onClose}
    >
      <p>The running app keeps it until the next build.</p>
    </ConfirmByName>
  );
}

/** When the last variable was deleted, if that is among the organization's newest changes. */
function useLastDeletion(orgId: string, projectId: string): string | undefined {
  const { data } = useLoad(`deleted-variables/${projectId}`, (signal) =>
    client.listEvents({ orgId, limit: 100 }, { signal }),
  );
  const isDeletion = ({ action, ids }: { action: string; ids: Record<string, unknown> }) =>
    action === "delete-environment" && ids.projectId === projectId;
  return data?.events.find(isDeletion)?.at;
}

type Opened = { dialog: "add" | "paste" } | { dialog: "edit" | "delete"; variable: Variable };

export function VariablesPage() {
  const { ids } = useProject();
  const [opened, setOpened] = useState<Opened | undefined>(undefined);
  const variables = useLoad(`variables/${ids.projectId}`, (signal) => client.listEnvironments(ids, { signal }));
  const live = useLiveBuild(ids).data;
  const liveSince = live?.state === "live" ? live.build.createdAt : undefined;
  const deletedAt = useLastDeletion(ids.orgId, ids.projectId);
  const isNewer = (at: string | undefined) => liveSince !== undefined && at !== undefined && at > liveSince;
  const all = variables.data?.environments ?? [];
  const close = () => setOpened(undefined);
  return (
    <Page
      title="Variables"
      about="The app gets them in its environment. They are part of the image: a change reaches the app with the next build."
      actions={
        <>
          <Button onClick={() => setOpened({ dialog: "paste" })}>Paste a .env file</Button>
          <Button kind="primary" onClick={() => setOpened({ dialog: "add" })}>
            Add variable
          </Button>
        </>
      }
    >
      {(all.some(({ updatedAt }) => isNewer(updatedAt)) || isNewer(deletedAt)) && (
        <RebuildNotice>Variables changed since the live build was created. A rebuild applies them.</RebuildNotice>
      )}
      <Loading of={variables} what="variables">
        {({ environments }) =>
          environments.length === 0 ? (
            <EmptyState title="No variables yet">
              <p>
                Settings and secrets of the app belong here, such as DATABASE_URL. Add one, or paste a whole .env file.
              </p>
            </EmptyState>
          ) : (
            <Table
              label="Variables"
              rows={environments}
              rowKey={({ id }) => id}
              columns={[
                { head: "Name", cell: ({ name }) => <UserText mono>{name}</UserText> },
                { head: "Value", cell: (variable) => <Value variable={variable} /> },
                {
                  head: "Changed",
                  cell: ({ updatedAt }) => (
                    <span class="inline">
                      <Time at={updatedAt} />
                      {isNewer(updatedAt) && <Status tone="warn">Not live yet</Status>}
                    </span>
                  ),
                },
                {
                  head: "",
                  cell: (variable) => (
                    <span class="actions">
                      <Button label={`Change ${variable.name}`} onClick={() => setOpened({ dialog: "edit", variable })}>
                        Change
                      </Button>
                      <Button
                        kind="danger"
                        label={`Delete ${variable.name}`}
                        onClick={() => setOpened({ dialog: "delete", variable })}
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
      {opened?.dialog === "add" && <VariableDialog onClose={close} />}
      {opened?.dialog === "edit" && <VariableDialog variable={opened.variable} onClose={close} />}
      {opened?.dialog === "delete" && <DeleteDialog variable={opened.variable} onClose={close} />}
      {opened?.dialog === "paste" && <EnvFileDialog existing={all} onClose={close} />}
    </Page>
  );
}
