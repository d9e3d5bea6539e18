import { useEffect, useState } from "preact/hooks";
import { client } from "../api.ts";
import { TextField } from "../components/field.tsx";
import { PanelForm } from "../components/form.tsx";
import { Loading } from "../components/loading.tsx";
import { Page, useOrganizations } from "../components/shell.tsx";
import { fieldErrors } from "../explain.ts";
import { useMutation } from "../mutation.ts";
import { paths, useGo } from "../paths.ts";

const lastKey = "slipway-organization";

/** Remembers the organization, which the console shows first the next time. */
export function rememberOrganization(orgId: string): void {
  try {
    localStorage.setItem(lastKey, orgId);
  } catch {
    // Without storage, the first organization is shown.
  }
}

function lastOrganization(): string | null {
  try {
    return localStorage.getItem(lastKey);
  } catch {
    return null;
  }
}

function FirstOrganization() {
  const [name, setName] = useState("");
  const go = useGo();
  const create = useMutation((_: undefined, call) => client.createOrganization({ name }, call), {
    refreshes: "organizations",
    onDone: ({ organization }) => go(paths.organization(organization.id), true),
  });
  return (
    <Page title="Welcome to Slipway" about="An organization holds your projects, databases and files.">
      <PanelForm of={create} onSubmit={() => void create.run()} action="Create organization">
        <TextField
          label="Name of your organization"
          value={name}
          onInput={setName}
          required
          maxLength={128}
          error={fieldErrors(create.error).name}
        />
      </PanelForm>
    </Page>
  );
}

/** Leads to the organization that was shown last. */
export function HomePage() {
  const organizations = useOrganizations();
  const go = useGo();
  const all = organizations.data?.organizations;
  const target = all?.find(({ id }) => id === lastOrganization()) ?? all?.[0];
  useEffect(() => {
    if (target) go(paths.organization(target.id), true);
  }, [target?.id]);
  if (all?.length === 0) return <FirstOrganization />;
  return (
    <main id="main">
      <Loading of={organizations} what="your organizations">
        {() => null}
      </Loading>
    </main>
  );
}
