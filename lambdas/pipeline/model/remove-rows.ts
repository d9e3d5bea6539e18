import type { Item, List, Write } from "../../table/entity.ts";
import type { TableReader } from "../../table/reader.ts";
import type { TableWriter } from "../../table/writer.ts";

const rowsAtOnce = 100;

/** Deletes every row in a project's partition. */
export async function removeProjectRows(table: TableReader & TableWriter, projectId: string): Promise<void> {
  const pk = `PRJ#${projectId}`;
  const all: List<Item> = { pk, prefix: "", limit: rowsAtOnce, read: (item) => item };
  for (;;) {
    const { rows } = await table.list(all);
    if (rows.length === 0) return;
    const writes = rows.map(({ sk }): [string, Write] => [
      String(sk),
      { kind: "delete", key: { pk, sk: String(sk) }, read: (item: Item) => item },
    ]);
    await table.write(Object.fromEntries(writes));
  }
}
