import { useState } from "preact/hooks";
import { client } from "../api.ts";
import { Button } from "../components/button.tsx";
import { Snippet } from "../components/copy.tsx";
import { Dialog } from "../components/dialog.tsx";
import { SelectField, TextField } from "../components/field.tsx";
import { DialogForm } from "../components/form.tsx";
import { Time } from "../components/time.tsx";
import { UserText } from "../components/user-text.tsx";
import { fieldErrors } from "../explain.ts";
import { useMutation } from "../mutation.ts";
import { useOrgId } from "../paths.ts";
import { useRole } from "../role.ts";
import type { Role } from "./organization-members.tsx";

interface Invited {
  member: { name: string };
  invitation: { url?: string | undefined; expiresAt: string } | null;
}

function InvitedMember({ invited: { member, invitation }, onClose }: { invited: Invited; onClose: () => void }) {
  return (
    <div class="prose">
      {invitation === null && (
        <p>
          <UserText strong>{member.name}</UserText> has an account already and is a member now.
        </p>
      )}
      {invitation?.url !== undefined && (
        <>
          <p>
            <strong>Send this link to {member.name} yourself: it is shown only once.</strong> It signs in once, and ends{" "}
            <Time at={invitation.expiresAt} />.
          </p>
          <Snippet text={invitation.url} what="the invitation" />
        </>
      )}
      {invitation !== null && invitation.url === undefined && (
        <p>The invitation was made, but its link was lost. Remove the member, and invite them again.</p>
      )}
      <footer>
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </footer>
    </div>
  );
}

const roleTexts: readonly (readonly [Role, string])[] = [
  ["member", "Member: deploys, and uses what is there"],
  ["admin", "Admin: also makes and deletes projects, databases and members"],
  ["owner", "Owner: also grants the role owner"],
];

/** Adds a member, or invites one who has no account yet. */
export function InviteDialog({ onClose }: { onClose: () => void }) {
  const orgId = useOrgId();
  const isOwner = useRole() === "owner";
  const [email, setEmail] = useState("");
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>("member");
  const [invited, setInvited] = useState<Invited | undefined>(undefined);
  const invite = useMutation(
    (_: undefined, call) =>
      client.createMember({ orgId, email, role, ...(name.trim() !== "" && { name: name.trim() }) }, call),
    { refreshes: `members/${orgId}`, onDone: setInvited },
  );
  const errors = fieldErrors(invite.error);
  return (
    <Dialog title={invited ? "Invited" : "Invite a member"} onClose={onClose} wide={invited !== undefined}>
      {invited ? (
        <InvitedMember invited={invited} onClose={onClose} />
      ) : (
        <DialogForm of={invite} onSubmit={() => void invite.run()} action="Invite" onClose={onClose}>
          <TextField
            label="Email"
            type="email"
            value={email}
            onInput={setEmail}
            error={errors.email}
            required
            autofocus
          />
          <TextField
            label="Name"
            hint="Empty: the part before the @."
            value={name}
            onInput={setName}
            error={errors.name}
          />
          <SelectField
            label="Role"
            value={role}
            onInput={(value) => setRole(roleTexts.find(([one]) => one === value)?.[0] ?? "member")}
            options={roleTexts.filter(([one]) => isOwner || one !== "owner")}
            error={errors.role}
          />
        </DialogForm>
      )}
    </Dialog>
  );
}
