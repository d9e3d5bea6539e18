import { useState } from "preact/hooks";
import { client } from "../api.ts";
import { Button } from "../components/button.tsx";
import { ConfirmByName } from "../components/dialog.tsx";
import { ErrorMessage } from "../components/error-message.tsx";
import { Loading } from "../components/loading.tsx";
import { Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { UserText } from "../components/user-text.tsx";
import { useLoad } from "../load.ts";
import { useMutation } from "../mutation.ts";
import { paths, useGo, useOrgId } from "../paths.ts";
import { useIsAdmin, useRole } from "../role.ts";
import { user } from "../session.ts";
import { InviteDialog } from "./organization-invite.tsx";

export type Role = "owner" | "admin" | "member";

interface Member {
  id: string;
  name: string;
  email: string;
  role: Role;
  createdAt: string;
}

/** The role of a member, which an admin changes; only an owner grants and takes the role owner. */
function RoleChoice({ member }: { member: Member }) {
  const orgId = useOrgId();
  const ownRole = useRole();
  const change = useMutation((role: Role) => client.updateMember({ orgId, userId: member.id, role }), {
    refreshes: [`members/${orgId}`, "organizations"],
  });
  const roles: readonly Role[] = ownRole === "owner" ? ["owner", "admin", "member"] : ["admin", "member"];
  if (ownRole === "member" || !roles.includes(member.role)) return <span>{member.role}</span>;
  return (
    <span class="stack">
      <select
        aria-label={`Role of ${member.name}`}
        value={member.role}
        disabled={change.busy}
        onChange={(event) => {
          const role = roles.find((one) => one === event.currentTarget.value);
          // The list shows what the service has stored, also after a refusal.
          event.currentTarget.value = member.role;
          if (role) void change.run(role);
        }}
      >
        {roles.map((role) => (
          <option key={role} value={role}>
            {role}
          </option>
        ))}
      </select>
      <ErrorMessage of={change} />
    </span>
  );
}

function RemoveDialog({ member, onClose }: { member: Member; onClose: () => void }) {
  const orgId = useOrgId();
  const go = useGo();
  const isSelf = member.id === user.value?.id;
  const remove = useMutation((_: string) => client.deleteMember({ orgId, userId: member.id }), {
    refreshes: [`members/${orgId}`, "organizations"],
    onDone: () => {
      if (isSelf) go(paths.home, true);
    },
  });
  return (
    <ConfirmByName
      title={isSelf ? "Leave the organization" : "Remove member"}
      name={member.email}
      action={isSelf ? "Leave" : "Remove member"}
      mutation={remove}
      onClose={onClose}
    >
      <p>
        {isSelf ? "You lose" : "They lose"} access to the organization at once, with every token. What was deployed
        stays.
      </p>
    </ConfirmByName>
  );
}

/** The members of the organization, and the invitation of others. */
export function Members() {
  const orgId = useOrgId();
  const isAdmin = useIsAdmin();
  const [isInviting, setInviting] = useState(false);
  const [removed, setRemoved] = useState<Member | undefined>(undefined);
  const members = useLoad(`members/${orgId}`, (signal) => client.listMembers({ orgId }, { signal }));
  return (
    <section class="prose" aria-label="Members">
      <div class="page-head">
        <h2>Members</h2>
        {isAdmin && (
          <Button kind="primary" onClick={() => setInviting(true)}>
            Invite
          </Button>
        )}
      </div>
      <Loading of={members} what="members">
        {({ members }) => (
          <Table<Member>
            label="Members"
            rows={members}
            rowKey={({ id }) => id}
            columns={[
              { head: "Name", cell: ({ name }) => <UserText>{name}</UserText> },
              { head: "Email", cell: ({ email }) => <UserText>{email}</UserText> },
              { head: "Role", cell: (member) => <RoleChoice member={member} /> },
              { head: "Since", cell: ({ createdAt }) => <Time at={createdAt} /> },
              {
                head: "",
                cell: (member) =>
                  (isAdmin || member.id === user.value?.id) && (
                    <span class="actions">
                      <Button
                        kind="danger"
                        label={member.id === user.value?.id ? "Leave the organization" : `Remove ${member.name}`}
                        onClick={() => setRemoved(member)}
                      >
                        {member.id === user.value?.id ? "Leave" : "Remove"}
                      </Button>
                    </span>
                  ),
              },
            ]}
          />
        )}
      </Loading>
      {isInviting && <InviteDialog onClose={() => setInviting(false)} />}
      {removed && <RemoveDialog member={removed} onClose={() => setRemoved(undefined)} />}
    </section>
  );
}
