import { useState } from "preact/hooks";
import type { TokenAccess } from "../../api/route.ts";
import { client } from "../api.ts";
import { Button } from "../components/button.tsx";
import { Snippet } from "../components/copy.tsx";
import { Dialog } from "../components/dialog.tsx";
import { SelectField, TextField } from "../components/field.tsx";
import { DialogForm } from "../components/form.tsx";
import { useOrganizations } from "../components/shell.tsx";
import { AccessChoice, OrganizationChoice } from "../components/token-bounds.tsx";
import { fieldErrors } from "../explain.ts";
import { useMutation } from "../mutation.ts";

/** A new token, whose value no later answer contains. */
function CreatedToken({ value, onClose }: { value: string | undefined; onClose: () => void }) {
  return (
    <div class="prose">
      {value === undefined ? (
        <p>The token was made, but its value was lost with the first answer. Delete it, and create another.</p>
      ) : (
        <>
          <p>
            <strong>Copy the token now: it is shown only once.</strong>
          </p>
          <Snippet text={value} what="the token" />
          <p>For the setups below, in a terminal:</p>
          <Snippet text={`export SLIPWAY_TOKEN=${value}`} what="the command" />
        </>
      )}
      <footer>
        <Button kind="primary" onClick={onClose}>
          I have copied it
        </Button>
      </footer>
    </div>
  );
}

/** Creates a personal access token. */
export function TokenDialog({ onClose }: { onClose: () => void }) {
  const organizations = useOrganizations().data?.organizations ?? [];
  const [description, setDescription] = useState("");
  const [access, setAccess] = useState<TokenAccess>("deploy");
  const [chosen, setChosen] = useState<readonly string[] | null>(null);
  const [days, setDays] = useState("90");
  const [created, setCreated] = useState<{ value?: string | undefined } | undefined>(undefined);
  const create = useMutation(
    (_: undefined, call) =>
      client.createToken(
        {
          description,
          access,
          ...(chosen && { organizationIds: [...chosen] }),
          ...(days !== "" && { expiresInDays: Number(days) }),
        },
        call,
      ),
    { refreshes: "tokens", onDone: ({ token }) => setCreated(token) },
  );
  return (
    <Dialog title={created ? "Your new token" : "Create token"} onClose={onClose} wide>
      {created ? (
        <CreatedToken value={created.value} onClose={onClose} />
      ) : (
        <DialogForm
          of={create}
          onSubmit={() => void create.run()}
          action="Create token"
          disabled={chosen?.length === 0}
          onClose={onClose}
        >
          <TextField
            label="Description"
            hint="The tool that will use it."
            value={description}
            onInput={setDescription}
            error={fieldErrors(create.error).description}
            autofocus
          />
          <AccessChoice value={access} onChange={setAccess} />
          <OrganizationChoice organizations={organizations} value={chosen} onChange={setChosen} />
          <SelectField
            label="Ends"
            value={days}
            onInput={setDays}
            options={[
              ["7", "In 7 days"],
              ["30", "In 30 days"],
              ["90", "In 90 days"],
              ["365", "In a year"],
              ["", "Never"],
            ]}
          />
        </DialogForm>
      )}
    </Dialog>
  );
}
