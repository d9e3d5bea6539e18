import { useState } from "preact/hooks";
import type { ProjectReply } from "../../api/projects.ts";
import { client } from "../api.ts";
import { Button } from "../components/button.tsx";
import { ErrorMessage } from "../components/error-message.tsx";
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
    <form
      class="panel"
      onSubmit={(event) => {
        event.preventDefault();
        void save.run();
      }}
    >
      <h2>Who may deploy</h2>
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
      <ErrorMessage of={save} />
      {!disabled && (
        <Button type="submit" busy={save.busy}>
          Save
        </Button>
      )}
    </form>
  );
}
