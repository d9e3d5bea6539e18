import { useState } from "preact/hooks";
import { client } from "../api.ts";
import { AdminsOnly } from "../components/admins-only.tsx";
import { Button } from "../components/button.tsx";
import { ConfirmByName } from "../components/dialog.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { TextField } from "../components/field.tsx";
import { PanelForm } from "../components/form.tsx";
import { Loading } from "../components/loading.tsx";
import { Page } from "../components/shell.tsx";
import { Status } from "../components/status.tsx";
import { Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { fieldErrors } from "../explain.ts";
import { useLoad } from "../load.ts";
import { useMutation } from "../mutation.ts";
import { useProject } from "../paths.ts";
import { useIsAdmin } from "../role.ts";

function AddDomain() {
  const { ids } = useProject();
  const [domain, setDomain] = useState("");
  const add = useMutation((_: undefined, call) => client.createDomain({ ...ids, domain: domain.trim() }, call), {
    refreshes: `domains/${ids.projectId}`,
    onDone: () => setDomain(""),
  });
  return (
    <PanelForm of={add} onSubmit={() => void add.run()} action="Add domain">
      <TextField
        label="Domain"
        hint="A host name that belongs to you. Other letters than a to z are written in punycode (xn--…)."
        placeholder="www.example.com"
        value={domain}
        onInput={setDomain}
        inputMode="url"
        error={fieldErrors(add.error).domain}
        required
      />
    </PanelForm>
  );
}

function RemoveDialog({ domain, onClose }: { domain: string; onClose: () => void }) {
  const { ids } = useProject();
  const remove = useMutation((_: string) => client.deleteDomain({ ...ids, domain }), {
    refreshes: [`domains/${ids.projectId}`, "endpoints/"],
  });
  return (
    <ConfirmByName title="Remove domain" name={domain} action="Remove domain" mutation={remove} onClose={onClose}>
      <p>The app can no longer be reached at this address. Another project can take the domain then.</p>
    </ConfirmByName>
  );
}

export function DomainsPage() {
  const { ids } = useProject();
  const isAdmin = useIsAdmin();
  const [removed, setRemoved] = useState<string | undefined>(undefined);
  const domains = useLoad(`domains/${ids.projectId}`, (signal) => client.listDomains(ids, { signal }));
  const isWaiting = domains.data?.domains.some(({ status }) => status === "pending");
  return (
    <Page title="Domains" about="Addresses of your own at which the app can be reached, beside its default address.">
      <AdminsOnly what="add and remove domains" />
      {isAdmin && <AddDomain />}
      {isWaiting && (
        <p class="note">
          A pending domain waits until the operator of this service has connected it. Then it becomes active.
        </p>
      )}
      <Loading of={domains} what="domains">
        {({ domains }) =>
          domains.length === 0 ? (
            <EmptyState title="No domains yet">
              <p>Add a host name that you own. The operator of the service then connects it with the app.</p>
            </EmptyState>
          ) : (
            <Table
              label="Domains"
              rows={domains}
              rowKey={({ domain }) => domain}
              columns={[
                { head: "Domain", cell: ({ domain }) => domain },
                {
                  head: "Status",
                  cell: ({ status }) =>
                    status === "active" ? <Status tone="good">Active</Status> : <Status tone="busy">Pending</Status>,
                },
                { head: "Added", cell: ({ createdAt }) => <Time at={createdAt} /> },
                {
                  head: "",
                  cell: ({ domain }) =>
                    isAdmin && (
                      <span class="actions">
                        <Button kind="danger" label={`Remove ${domain}`} onClick={() => setRemoved(domain)}>
                          Remove
                        </Button>
                      </span>
                    ),
                },
              ]}
            />
          )
        }
      </Loading>
      {removed && <RemoveDialog domain={removed} onClose={() => setRemoved(undefined)} />}
    </Page>
  );
}
