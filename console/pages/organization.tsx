import { useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { client } from "../api.ts";
import { AdminsOnly } from "../components/admins-only.tsx";
import { Button } from "../components/button.tsx";
import { ErrorMessage } from "../components/error-message.tsx";
import { TextField } from "../components/field.tsx";
import { Loading } from "../components/loading.tsx";
import { Page, useOrganizations } from "../components/shell.tsx";
import { fieldErrors } from "../explain.ts";
import { useMutation } from "../mutation.ts";
import { paths, useOrgId } from "../paths.ts";
import { useIsAdmin } from "../role.ts";
import { Members } from "./organization-members.tsx";

const parts = [
  ["", "Members"],
  ["/tokens", "Tokens"],
  ["/events", "Audit trail"],
] as const;

/** The links between the parts of the organization's page. */
export function OrganizationParts() {
  const base = `${paths.organization(useOrgId())}/members`;
  const { path } = useLocation();
  return (
    <nav class="parts" aria-label="Parts of the organization">
      {parts.map(([end, text]) => (
        <a key={end} href={base + end} aria-current={path === base + end ? "page" : undefined}>
          {text}
        </a>
      ))}
    </nav>
  );
}

function Rename({ current }: { current: string }) {
  const orgId = useOrgId();
  const [name, setName] = useState(current);
  const rename = useMutation((_: undefined) => client.updateOrganization({ orgId, name }), {
    refreshes: "organizations",
    onDone: ({ organization }) => setName(organization.name),
  });
  return (
    <form
      class="panel"
      onSubmit={(event) => {
        event.preventDefault();
        void rename.run();
      }}
    >
      <h2>Name</h2>
      <TextField
        label="Name of the organization"
        value={name}
        onInput={setName}
        error={fieldErrors(rename.error).name}
        required
      />
      <ErrorMessage of={rename} />
      <Button type="submit" busy={rename.busy} disabled={name.trim() === current}>
        Rename
      </Button>
    </form>
  );
}

export function OrganizationPage() {
  const orgId = useOrgId();
  const isAdmin = useIsAdmin();
  return (
    <Page title="Organization" about="Its members share its projects, databases and files.">
      <OrganizationParts />
      <AdminsOnly what="invite members and change roles" />
      <Members />
      {isAdmin && (
        <Loading of={useOrganizations()} what="the organization">
          {({ organizations }) => {
            const current = organizations.find(({ id }) => id === orgId);
            return current ? <Rename key={orgId} current={current.name} /> : null;
          }}
        </Loading>
      )}
    </Page>
  );
}
