import { useState } from "preact/hooks";
import type { ProjectReply } from "../../api/projects.ts";
import { client } from "../api.ts";
import { PanelForm } from "../components/form.tsx";
import { Loading } from "../components/loading.tsx";
import { UserText } from "../components/user-text.tsx";
import { useLoad } from "../load.ts";
import { useMutation } from "../mutation.ts";
import { useProject } from "../paths.ts";

/** Who may deploy: every member, or only those who are chosen. */
export function Managers({ project, disabled }: { project: ProjectReply; disabled: boolean }) {
  const { ids } = useProject();
  const [isRestricted, setRestricted] = useState(project.managers !== null);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(project.managers?.map(({ id }) => id)));
  const members = useLoad(`members/${ids.orgId}`, (signal) => client.listMembers({ orgId: ids.orgId }, { signal }));
  const save = useMutation(
    (_: undefined) => client.setManagers({ ...ids, userIds: isRestricted ? [...chosen] : null }),
    { refreshes: [`project/${ids.projectId}`, "projects/"] },
  );
  const choose = (id: string, isChosen: boolean) => {
    const next = new Set(chosen);
    if (isChosen) next.add(id);
    else next.delete(id);
    setChosen(next);
  };
  return (
    <PanelForm
      title="Who may deploy"
      of={save}
      onSubmit={() => void save.run()}
      action="Save"
      kind="plain"
      readOnly={disabled}
    >
      <label class="choice">
        <input
          type="checkbox"
          checked={isRestricted}
          disabled={disabled}
          onChange={(event) => setRestricted(event.currentTarget.checked)}
        />
        Only the chosen members
      </label>
      <p class="hint">
        Builds, rebuilds and redeploys of all others are refused, owners included. Keys are not restricted.
      </p>
      {isRestricted && (
        <Loading of={members} what="members">
          {({ members }) => (
            <fieldset class="checks" disabled={disabled}>
              <legend>Members</legend>
              {members.map(({ id, name, email }) => (
                <label class="choice" key={id}>
                  <input
                    type="checkbox"
                    checked={chosen.has(id)}
                    onChange={(event) => choose(id, event.currentTarget.checked)}
                  />
                  <span>
                    <UserText>{name}</UserText>{" "}
                    <span class="muted">
                      <UserText>{email}</UserText>
                    </span>
                  </span>
                </label>
              ))}
              {chosen.size === 0 && <p class="note">Without a member only keys can deploy.</p>}
            </fieldset>
          )}
        </Loading>
      )}
    </PanelForm>
  );
}
