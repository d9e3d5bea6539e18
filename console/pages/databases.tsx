import { client } from "../api.ts";
import { CreateResource, type ResourceKind, ResourceList } from "../components/named-resources.tsx";
import { Page } from "../components/shell.tsx";
import { useLoad } from "../load.ts";
import { paths, useOrgId } from "../paths.ts";

export function DatabasesPage() {
  const orgId = useOrgId();
  const kind: ResourceKind = {
    what: "database",
    key: `databases/${orgId}`,
    href: (dbId) => `${paths.organization(orgId)}/databases/${dbId}`,
    create: (name, call) => client.createDatabase({ orgId, name }, call),
    rename: (dbId, name) => client.updateDatabase({ orgId, dbId, name }),
    remove: (dbId, confirm) => client.deleteDatabase({ orgId, dbId, confirm }),
    empty: "A database holds tables that the apps of all projects share. Apps read and write them with the SDK.",
    lost: "All of its tables and rows will be gone for good.",
  };
  const databases = useLoad(kind.key, async (signal) => (await client.listDatabases({ orgId }, { signal })).databases);
  return (
    <Page title="Databases" about="All projects share them." actions={<CreateResource kind={kind} />}>
      <ResourceList kind={kind} of={databases} />
    </Page>
  );
}
