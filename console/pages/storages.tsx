import { client } from "../api.ts";
import { CreateResource, type ResourceKind, ResourceList } from "../components/named-resources.tsx";
import { Page } from "../components/shell.tsx";
import { useLoad } from "../load.ts";
import { paths, useOrgId } from "../paths.ts";

export function StoragesPage() {
  const orgId = useOrgId();
  const kind: ResourceKind = {
    what: "storage",
    key: `storages/${orgId}`,
    href: (storageId) => `${paths.organization(orgId)}/storages/${storageId}`,
    create: (name, call) => client.createStorage({ orgId, name }, call),
    rename: (storageId, name) => client.updateStorage({ orgId, storageId, name }),
    remove: (storageId, confirm) => client.deleteStorage({ orgId, storageId, confirm }),
    empty: "A storage holds files that the apps of all projects share, such as uploads of their users.",
    lost: "Only a storage without files can be deleted.",
  };
  const storages = useLoad(kind.key, async (signal) => (await client.listStorages({ orgId }, { signal })).storages);
  return (
    <Page title="Files" about="Storages hold files that all projects share." actions={<CreateResource kind={kind} />}>
      <ResourceList kind={kind} of={storages} />
    </Page>
  );
}
