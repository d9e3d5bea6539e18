import { useLocation } from "preact-iso/router";
import { client } from "../api.ts";
import { AdminsOnly } from "../components/admins-only.tsx";
import { Loading } from "../components/loading.tsx";
import { RenameForm } from "../components/rename-form.tsx";
import { Page, useOrganizations } from "../components/shell.tsx";
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
            if (!current) return null;
            const rename = async (name: string) => (await client.updateOrganization({ orgId, name })).organization.name;
            return (
              <RenameForm
                key={orgId}
                label="Name of the organization"
                current={current.name}
                rename={rename}
                refreshes={["organizations"]}
              />
            );
          }}
        </Loading>
      )}
    </Page>
  );
}
