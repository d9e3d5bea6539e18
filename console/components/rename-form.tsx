import { useState } from "preact/hooks";
import { fieldErrors } from "../explain.ts";
import { useMutation } from "../mutation.ts";
import { TextField } from "./field.tsx";
import { PanelForm } from "./form.tsx";

interface RenameProps {
  /** The label of the field, such as "Name of the project". */
  label: string;
  current: string;
  /** Stores the name, and resolves with the stored one. */
  rename: (name: string) => Promise<string>;
  /** The keys of `useLoad` that show the name. */
  refreshes: readonly string[];
  readOnly?: boolean;
}

/** Shows a name, and changes it. */
export function RenameForm({ label, current, rename, refreshes, readOnly = false }: RenameProps) {
  const [name, setName] = useState(current);
  const save = useMutation((_: undefined) => rename(name), { refreshes, onDone: setName });
  return (
    <PanelForm
      title="Name"
      of={save}
      onSubmit={() => void save.run()}
      action="Rename"
      kind="plain"
      disabled={name.trim() === current}
      readOnly={readOnly}
    >
      <TextField
        label={label}
        value={name}
        onInput={setName}
        error={fieldErrors(save.error).name}
        disabled={readOnly}
        required
      />
    </PanelForm>
  );
}
