import { useState } from "preact/hooks";
import type { TableReply } from "../../api/tables.ts";
import { client } from "../api.ts";
import { CellControl, firstDraft } from "../components/cell-editor.tsx";
import { Dialog } from "../components/dialog.tsx";
import { DialogForm } from "../components/form.tsx";
import { fieldErrors } from "../explain.ts";
import { useMutation } from "../mutation.ts";
import { type CellDraft, cellValue } from "../row-values.ts";
import { ownColumns } from "../schema-draft.ts";
import { rowsKey, type TableIds } from "../table-ids.ts";

/** Adds a row; a column that is left at null gets its default. */
export function NewRowDialog({ ids, table, onClose }: { ids: TableIds; table: TableReply; onClose: () => void }) {
  const columns = ownColumns(table);
  const [drafts, setDrafts] = useState<Readonly<Record<string, CellDraft>>>(() =>
    Object.fromEntries(columns.map((column) => [column.name, firstDraft(column)])),
  );
  const [broken, setBroken] = useState<Readonly<Record<string, string>>>({});
  const add = useMutation((row: Record<string, unknown>, call) => client.createRow({ ...ids, row }, call), {
    refreshes: rowsKey(ids),
    onDone: onClose,
  });
  const submit = () => {
    const named = columns.filter(({ name }) => drafts[name] !== null);
    const results = named.map(({ name, type }) => [name, cellValue(type, drafts[name] ?? null)] as const);
    const wrong = results.flatMap(([name, result]) => ("message" in result ? [[name, result.message] as const] : []));
    setBroken(Object.fromEntries(wrong));
    if (wrong.length > 0) return;
    void add.run(
      Object.fromEntries(results.flatMap(([name, result]) => ("value" in result ? [[name, result.value]] : []))),
    );
  };
  const errors = fieldErrors(add.error);
  return (
    <Dialog title="Add row" onClose={onClose} wide>
      <DialogForm of={add} onSubmit={submit} action="Add row" onClose={onClose}>
        {columns.map((column) => {
          const { name, type, comment } = column;
          const error = broken[name] ?? errors[`row.${name}`];
          const fallback = column.default === null ? "" : `, default ${String(column.default)}`;
          return (
            <div class="field" key={name}>
              <span class="field-label">
                {name} <small class="muted">{`${type}${fallback}`}</small>
              </span>
              {comment && <p class="hint">{comment}</p>}
              <CellControl
                column={{ ...column, nullable: column.nullable || column.default !== null }}
                draft={drafts[name] ?? null}
                onChange={(draft) => setDrafts({ ...drafts, [name]: draft })}
              />
              {error && <p class="field-error">{error}</p>}
            </div>
          );
        })}
        <p class="hint">A column that is left at null gets its default.</p>
      </DialogForm>
    </Dialog>
  );
}
