import { useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso/router";
import type { TableReply } from "../../api/tables.ts";
import { client } from "../api.ts";
import { Button } from "../components/button.tsx";
import { ConfirmByName } from "../components/dialog.tsx";
import { Loading } from "../components/loading.tsx";
import { Page } from "../components/shell.tsx";
import { UserText } from "../components/user-text.tsx";
import { useMutation } from "../mutation.ts";
import { useGo } from "../paths.ts";
import { Rows } from "./table-rows.tsx";
import { SchemaForm } from "./table-schema.tsx";
import { useDatabase, useTables } from "./tables.tsx";

function DeleteTable({ table }: { table: TableReply }) {
  const { ids, path } = useDatabase();
  const go = useGo();
  const [isOpen, setOpen] = useState(false);
  const remove = useMutation((_: string) => client.deleteTable({ ...ids, tableName: table.name }), {
    refreshes: `tables/${ids.dbId}`,
    onDone: () => go(path, true),
  });
  return (
    <section class="panel">
      <h2>Delete the table</h2>
      <p>All of its rows will be gone for good.</p>
      <div class="actions">
        <Button kind="danger" onClick={() => setOpen(true)}>
          Delete table…
        </Button>
      </div>
      {isOpen && (
        <ConfirmByName
          title="Delete table"
          name={table.name}
          action="Delete table"
          mutation={remove}
          onClose={() => setOpen(false)}
        >
          <p>The table and all of its rows will be gone for good. This cannot be undone.</p>
        </ConfirmByName>
      )}
    </section>
  );
}

/** A table: its rows, or at `…/columns` its columns. */
export function TablePage() {
  const { ids, path } = useDatabase();
  const tableName = useRoute().params.tableName ?? "";
  const tables = useTables();
  const base = `${path}/tables/${tableName}`;
  const current = useLocation().path;
  const isSchema = current === `${base}/columns`;
  return (
    <Page title={tableName} about={<a href={path}>All tables</a>}>
      <nav class="parts" aria-label="Parts of the table">
        <a href={base} aria-current={isSchema ? undefined : "page"}>
          Rows
        </a>
        <a href={`${base}/columns`} aria-current={isSchema ? "page" : undefined}>
          Columns
        </a>
      </nav>
      <Loading of={tables} what="the table">
        {({ tables }) => {
          const table = tables.find(({ name }) => name === tableName);
          if (!table) return <p class="note">There is no table of this name in the database.</p>;
          if (!isSchema) {
            return (
              <>
                {table.comment && <UserText>{table.comment}</UserText>}
                <Rows key={tableName} ids={{ ...ids, tableName }} table={table} />
              </>
            );
          }
          return (
            <>
              <SchemaForm key={JSON.stringify(table)} ids={{ ...ids, tableName }} table={table} />
              <DeleteTable table={table} />
            </>
          );
        }}
      </Loading>
    </Page>
  );
}
