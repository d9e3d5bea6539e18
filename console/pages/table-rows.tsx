import { useState } from "preact/hooks";
import type { RowReply, TableReply } from "../../api/tables.ts";
import { client } from "../api.ts";
import { Button } from "../components/button.tsx";
import { ConfirmByName } from "../components/dialog.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { Loading } from "../components/loading.tsx";
import { useLoad } from "../load.ts";
import { useMutation } from "../mutation.ts";
import { rowsKey, type TableIds } from "../table-ids.ts";
import { Cell } from "./table-cell.tsx";
import { NewRowDialog } from "./table-new-row.tsx";

function DeleteRow({ ids, row, onClose }: { ids: TableIds; row: RowReply; onClose: () => void }) {
  const remove = useMutation((_: string) => client.deleteRow({ ...ids, rowId: String(row.id) }), {
    refreshes: rowsKey(ids),
  });
  return (
    <ConfirmByName
      title={`Delete row ${row.id}`}
      name={String(row.id)}
      action="Delete row"
      mutation={remove}
      onClose={onClose}
    >
      <p>The row will be gone for good.</p>
    </ConfirmByName>
  );
}

interface RowsProps {
  ids: TableIds;
  table: TableReply;
}

function Grid({ ids, table, rows }: RowsProps & { rows: readonly RowReply[] }) {
  const [removed, setRemoved] = useState<RowReply | undefined>(undefined);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
      <section class="grid-frame" tabIndex={0} aria-label="Rows">
        <table aria-label={`Rows of ${table.name}`}>
          <thead>
            <tr>
              {table.columns.map(({ name, type, comment }) => (
                <th key={name} scope="col" title={comment ?? undefined}>
                  {name} <small class="muted">{type}</small>
                </th>
              ))}
              <th scope="col">
                <span class="visually-hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.id}>
                {table.columns.map((column) => (
                  <td key={column.name}>
                    <Cell ids={ids} column={column} row={row} />
                  </td>
                ))}
                <td>
                  <Button kind="quiet" label={`Delete row ${row.id}`} onClick={() => setRemoved(row)}>
                    Delete
                  </Button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {removed && <DeleteRow ids={ids} row={removed} onClose={() => setRemoved(undefined)} />}
    </>
  );
}

/** The rows of a table, a page at a time; a value is edited in place. */
export function Rows({ ids, table }: RowsProps) {
  // The cursors of the previous pages, for going back; the last one is that of the current page.
  const [cursors, setCursors] = useState<readonly (string | undefined)[]>([undefined]);
  const [isAdding, setAdding] = useState(false);
  const cursor = cursors.at(-1);
  const rows = useLoad(`${rowsKey(ids)}/${cursor ?? ""}`, (signal) => client.listRows({ ...ids, cursor }, { signal }));
  const next = rows.data?.nextCursor;
  return (
    <>
      <div class="actions">
        <Button kind="primary" onClick={() => setAdding(true)}>
          Add row
        </Button>
      </div>
      <Loading of={rows} what="rows">
        {({ rows }) =>
          rows.length === 0 ? (
            <EmptyState title={cursor === undefined ? "No rows yet" : "No more rows"}>
              <p>Apps write rows with the SDK. Add one here to try it.</p>
            </EmptyState>
          ) : (
            <Grid ids={ids} table={table} rows={rows} />
          )
        }
      </Loading>
      <div class="actions">
        <Button disabled={cursors.length === 1} onClick={() => setCursors(cursors.slice(0, -1))}>
          Previous page
        </Button>
        <Button disabled={!next} onClick={() => setCursors([...cursors, next ?? undefined])}>
          Next page
        </Button>
        <span class="muted" role="status">
          Page {cursors.length}
        </span>
      </div>
      {isAdding && <NewRowDialog ids={ids} table={table} onClose={() => setAdding(false)} />}
    </>
  );
}
