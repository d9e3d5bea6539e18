import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ColumnReply, RowReply } from "../../api/tables.ts";
import { client } from "../api.ts";
import { Button } from "../components/button.tsx";
import { CellControl } from "../components/cell-editor.tsx";
import { ErrorMessage } from "../components/error-message.tsx";
import { UserText } from "../components/user-text.tsx";
import { useMutation } from "../mutation.ts";
import { type CellDraft, cellLine, cellText, cellValue } from "../row-values.ts";
import { isManaged } from "../schema-draft.ts";
import { rowsKey, type TableIds } from "../table-ids.ts";

interface CellProps {
  ids: TableIds;
  column: ColumnReply;
  row: RowReply;
}

const shownLengthMax = 120;

function Shown({ value }: { value: unknown }) {
  if (value === null || value === undefined) return <span class="muted">null</span>;
  const line = cellLine(value);
  return <UserText>{line.length > shownLengthMax ? `${line.slice(0, shownLengthMax)}…` : line}</UserText>;
}

/** Edits one value in the table. Sends only this column, so that changes to other columns are not overwritten. */
function CellEditor({ ids, column, row, onClose }: CellProps & { onClose: () => void }) {
  const [draft, setDraft] = useState<CellDraft>(() => cellText(row[column.name]));
  const [broken, setBroken] = useState<string | undefined>(undefined);
  const form = useRef<HTMLFormElement>(null);
  const save = useMutation(
    (value: { value: unknown }) =>
      client.updateRow({ ...ids, rowId: String(row.id), row: { [column.name]: value.value } }),
    { refreshes: rowsKey(ids), onDone: onClose },
  );
  // Runs before the browser handles the next key, so that keys typed right after the click go to the editor.
  useLayoutEffect(() => {
    form.current?.querySelector<HTMLElement>("input, select, textarea")?.focus();
  }, []);
  return (
    <form
      ref={form}
      class="cell-editor"
      aria-label={`${column.name} of row ${row.id}`}
      onKeyDown={(event) => {
        if (event.key === "Escape") onClose();
      }}
      onSubmit={(event) => {
        event.preventDefault();
        const result = cellValue(column.type, draft);
        setBroken("message" in result ? result.message : undefined);
        if ("value" in result) void save.run(result);
      }}
    >
      <CellControl column={column} draft={draft} onChange={setDraft} />
      {broken && (
        <p class="field-error" role="alert">
          {broken}
        </p>
      )}
      <ErrorMessage of={save} />
      <span class="actions">
        <Button type="submit" kind="primary" busy={save.busy}>
          Save
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </span>
    </form>
  );
}

/** A value of a row; a press opens its editor, unless the service manages the column. */
export function Cell({ ids, column, row }: CellProps) {
  const [isOpen, setOpen] = useState(false);
  const value = row[column.name];
  if (isManaged(column.name)) return <Shown value={value} />;
  if (isOpen) return <CellEditor ids={ids} column={column} row={row} onClose={() => setOpen(false)} />;
  return (
    <button type="button" class="cell" onClick={() => setOpen(true)}>
      <span class="visually-hidden">{`Change ${column.name} of row ${row.id}: `}</span>
      <Shown value={value} />
    </button>
  );
}
