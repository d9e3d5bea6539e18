import { useState } from "preact/hooks";
import { client } from "../api.ts";
import { ColumnsEditor } from "../components/columns-editor.tsx";
import { Dialog } from "../components/dialog.tsx";
import { TextField } from "../components/field.tsx";
import { DialogForm } from "../components/form.tsx";
import { fieldErrors } from "../explain.ts";
import { useMutation } from "../mutation.ts";
import { columnInput, newColumn, type TableDraft } from "../schema-draft.ts";

interface NewTableProps {
  ids: { orgId: string; dbId: string };
  onClose: () => void;
  onCreated: (name: string) => void;
}

/** Creates a table with its columns. */
export function NewTableDialog({ ids, onClose, onCreated }: NewTableProps) {
  const [name, setName] = useState("");
  const [draft, setDraft] = useState<TableDraft>(() => ({ columns: [newColumn()], comment: "" }));
  const create = useMutation(
    (_: undefined, call) => {
      const { columns, comment } = draft;
      return client.createTable({ ...ids, name, comment: comment || null, columns: columns.map(columnInput) }, call);
    },
    { refreshes: `tables/${ids.dbId}`, onDone: ({ table }) => onCreated(table.name) },
  );
  const errors = fieldErrors(create.error);
  return (
    <Dialog title="Create table" onClose={onClose} wide>
      <DialogForm of={create} onSubmit={() => void create.run()} action="Create table" onClose={onClose}>
        <TextField label="Name of the table" value={name} onInput={setName} error={errors.name} required autofocus />
        <ColumnsEditor
          draft={draft}
          onChange={setDraft}
          errorOf={(column, field) => errors[`columns.${draft.columns.indexOf(column)}.${field}`]}
        />
        <p class="hint">The columns id, created_at and updated_at are added and managed by the service.</p>
      </DialogForm>
    </Dialog>
  );
}
