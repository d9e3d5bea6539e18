import { useState } from "preact/hooks";
import type { TableReply } from "../../api/tables.ts";
import { client } from "../api.ts";
import { Button } from "../components/button.tsx";
import { ColumnsEditor } from "../components/columns-editor.tsx";
import { Dialog } from "../components/dialog.tsx";
import { TextField } from "../components/field.tsx";
import { DialogForm, PanelForm } from "../components/form.tsx";
import { UserText } from "../components/user-text.tsx";
import { fieldErrors } from "../explain.ts";
import { type Mutation, useMutation } from "../mutation.ts";
import { type ColumnDraft, tableChangeOf, tableDraft } from "../schema-draft.ts";
import { rowsKey, type TableIds } from "../table-ids.ts";

type Change = ReturnType<typeof tableChangeOf>;

interface Planned {
  change: Change;
  plan: readonly string[];
  destructive: boolean;
}

interface PlanProps {
  planned: Planned;
  tableName: string;
  apply: Mutation<Change>;
  onClose: () => void;
}

/** The effects of a change, as the dry run reports them, and the button that makes it. */
function PlanDialog({ planned: { change, plan, destructive }, tableName, apply, onClose }: PlanProps) {
  const [typed, setTyped] = useState("");
  return (
    <Dialog title="Apply this change?" onClose={onClose}>
      <DialogForm
        of={apply}
        onSubmit={() => void apply.run(change)}
        action="Apply"
        kind={destructive ? "danger" : "primary"}
        disabled={destructive && typed !== tableName}
        close="Go back"
        onClose={onClose}
      >
        <ol class="plan">
          {plan.map((line) => (
            <li key={line}>
              <UserText>{line}</UserText>
            </li>
          ))}
        </ol>
        {destructive ? (
          <>
            <p>
              <strong>This deletes data for good.</strong> Type <UserText strong>{tableName}</UserText> to confirm.
            </p>
            <TextField label="Name of the table" value={typed} onInput={setTyped} autofocus />
          </>
        ) : (
          <p class="hint">No data is lost. The change is made as a whole, or not at all.</p>
        )}
      </DialogForm>
    </Dialog>
  );
}

/** The field of the request in which a column's rule is reported. */
function issuePath(change: Change, column: ColumnDraft, field: string): string {
  if (column.from === undefined) return `add.${change.add?.findIndex(({ name }) => name === column.name)}.${field}`;
  if (field === "name") return `rename.${change.rename?.findIndex(({ from }) => from === column.from)}.to`;
  return `modify.${change.modify?.findIndex(({ name }) => name === column.name)}.${field}`;
}

/** The columns of a table; a change is planned by a dry run before it is made. */
export function SchemaForm({ ids, table }: { ids: TableIds; table: TableReply }) {
  const [draft, setDraft] = useState(() => tableDraft(table));
  const [planned, setPlanned] = useState<Planned | undefined>(undefined);
  const change = tableChangeOf(table, draft);
  const isChanged = Object.keys(change).length > 0;
  const review = useMutation(async (_: undefined) => {
    const { plan = [], destructive = true } = await client.updateTable({ ...ids, ...change, dryRun: "true" });
    setPlanned({ change, plan, destructive });
  });
  const apply = useMutation((agreed: Change) => client.updateTable({ ...ids, ...agreed }), {
    refreshes: [`tables/${ids.dbId}`, rowsKey(ids)],
    onDone: () => setPlanned(undefined),
  });
  const errors = fieldErrors(review.error);
  return (
    <>
      <PanelForm
        of={review}
        onSubmit={() => void review.run()}
        action="Review the change"
        disabled={!isChanged}
        more={isChanged && <Button onClick={() => setDraft(tableDraft(table))}>Discard changes</Button>}
      >
        <ColumnsEditor
          draft={draft}
          onChange={setDraft}
          errorOf={(column, field) => errors[issuePath(change, column, field)]}
        />
      </PanelForm>
      {planned && (
        <PlanDialog planned={planned} tableName={ids.tableName} apply={apply} onClose={() => setPlanned(undefined)} />
      )}
    </>
  );
}
