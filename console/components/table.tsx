import type { ComponentChildren } from "preact";

export interface Column<Row> {
  /** Empty for the column of buttons. */
  head: string;
  cell: (row: Row) => ComponentChildren;
  /** Numbers stand at the right. */
  align?: "end";
}

interface TableProps<Row> {
  /** What the table holds, for screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string | number;
}

/** A table; on a narrow screen each row becomes a block whose values have their column's name beside them. */
export function Table<Row>({ label, columns, rows, rowKey }: TableProps<Row>) {
  return (
    <div class="table-frame">
      <table aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ head, align }) => (
              <th key={head} scope="col" class={align}>
                {head || <span class="visually-hidden">Actions</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)}>
              {columns.map(({ head, cell, align }) => (
                <td key={head} class={head ? align : "buttons"} data-label={head || undefined}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
