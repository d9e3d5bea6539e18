import { useState } from "preact/hooks";
import { client } from "../api.ts";
import { Dialog } from "../components/dialog.tsx";
import { TextArea, TextField } from "../components/field.tsx";
import { DialogForm } from "../components/form.tsx";
import { fieldErrors } from "../explain.ts";
import { useMutation } from "../mutation.ts";
import { useProject } from "../paths.ts";

export interface Variable {
  id: string;
  name: string;
  value: string;
  updatedAt: string;
}

/** Adds a variable, or changes the given one. */
export function VariableDialog({ variable, onClose }: { variable?: Variable; onClose: () => void }) {
  const { ids } = useProject();
  const [name, setName] = useState(variable?.name ?? "");
  const [value, setValue] = useState(variable?.value ?? "");
  const save = useMutation(
    (_: undefined, call) =>
      variable
        ? client.updateEnvironment({ ...ids, envId: variable.id, name, value })
        : client.createEnvironment({ ...ids, name, value }, call),
    { refreshes: `variables/${ids.projectId}`, onDone: onClose },
  );
  const errors = fieldErrors(save.error);
  return (
    <Dialog title={variable ? "Change variable" : "Add variable"} onClose={onClose}>
      <DialogForm
        of={save}
        onSubmit={() => void save.run()}
        action={variable ? "Save" : "Add variable"}
        onClose={onClose}
      >
        <TextField
          label="Name"
          hint="Letters, digits and underscores."
          value={name}
          onInput={setName}
          error={errors.name}
          required
          autofocus={variable === undefined}
        />
        <TextArea
          label="Value"
          hint="Every character reaches the app as it is, line breaks too."
          value={value}
          onInput={setValue}
          error={errors.value}
        />
      </DialogForm>
    </Dialog>
  );
}
