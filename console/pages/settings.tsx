import { useState } from "preact/hooks";
import type { ProjectReply } from "../../api/projects.ts";
import { client } from "../api.ts";
import { AdminsOnly } from "../components/admins-only.tsx";
import { Button } from "../components/button.tsx";
import { ConfirmByName } from "../components/dialog.tsx";
import { Loading } from "../components/loading.tsx";
import { RenameForm } from "../components/rename-form.tsx";
import { Page, useCurrentProject } from "../components/shell.tsx";
import { UserText } from "../components/user-text.tsx";
import { useLiveBuild } from "../live-build.ts";
import { useLoad } from "../load.ts";
import { useMutation } from "../mutation.ts";
import { paths, useGo, useProject } from "../paths.ts";
import { useIsAdmin } from "../role.ts";
import { settingsInFile } from "../settings-draft.ts";
import { SettingsForm } from "./settings-form.tsx";
import { Managers } from "./settings-managers.tsx";

function Delete({ project }: { project: ProjectReply }) {
  const { ids } = useProject();
  const go = useGo();
  const [isOpen, setOpen] = useState(false);
  const remove = useMutation((confirm: string) => client.deleteProject({ ...ids, confirm }), {
    refreshes: "projects/",
    onDone: () => go(paths.organization(ids.orgId), true),
  });
  return (
    <section class="panel">
      <h2>Delete the project</h2>
      <p>Its app stops, its domains are free for others, and its variables, keys, builds and archives are removed.</p>
      <div class="actions">
        <Button kind="danger" onClick={() => setOpen(true)}>
          Delete project…
        </Button>
      </div>
      {isOpen && (
        <ConfirmByName
          title="Delete project"
          name={project.name}
          action="Delete project"
          mutation={remove}
          onClose={() => setOpen(false)}
        >
          <p>
            The project <UserText strong>{project.name}</UserText> and everything that belongs to it will be gone for
            good. Databases and files belong to the organization and stay.
          </p>
        </ConfirmByName>
      )}
    </section>
  );
}

/** What the live build says about the settings: what detection found, and what slipway.json sets. */
function useLiveFindings() {
  const { ids } = useProject();
  const live = useLiveBuild(ids).data;
  const buildId = live?.state === "live" ? live.build.id : undefined;
  const key = buildId === undefined ? undefined : `build-findings/${buildId}`;
  const { data } = useLoad(key, (signal) => client.getBuild({ ...ids, buildId: buildId ?? "" }, { signal }));
  return { detected: data?.build.detected ?? null, inFile: settingsInFile(data?.build.findings ?? []) };
}

export function SettingsPage() {
  const { ids } = useProject();
  const project = useCurrentProject();
  const isAdmin = useIsAdmin();
  const { detected, inFile } = useLiveFindings();
  return (
    <Page
      title="Settings"
      about="An empty field is left to detection. A file slipway.json in the archive can hold the same settings, and wins."
    >
      <AdminsOnly what="change settings" />
      <Loading of={project} what="settings">
        {({ project }) => (
          <>
            <SettingsForm key={project.id} project={project} detected={detected} inFile={inFile} disabled={!isAdmin} />
            <div class="columns">
              <RenameForm
                key={project.id}
                label="Name of the project"
                current={project.name}
                rename={async (name) => (await client.updateProject({ ...ids, name })).project.name}
                refreshes={[`project/${ids.projectId}`, "projects/"]}
                readOnly={!isAdmin}
              />
              <Managers key={project.id} project={project} disabled={!isAdmin} />
            </div>
            {isAdmin && <Delete project={project} />}
          </>
        )}
      </Loading>
    </Page>
  );
}
