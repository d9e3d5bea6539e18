import { useState } from "preact/hooks";
import { useRoute } from "preact-iso/router";
import { client } from "../api.ts";
import { Button } from "../components/button.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { Loading } from "../components/loading.tsx";
import { Page } from "../components/shell.tsx";
import { Table } from "../components/table.tsx";
import { UserText } from "../components/user-text.tsx";
import { useLoad } from "../load.ts";
import { paths, useGo, useOrgId } from "../paths.ts";
import { ownColumns } from "../schema-draft.ts";
import { NewTableDialog } from "./tables-new.tsx";

/** The database of the page, with the path that its tables' pages begin with. */
export function useDatabase() {
  const orgId = useOrgId();
  const dbId = useRoute().params.dbId ?? "";
  return { ids: { orgId, dbId }, path: `${paths.organization(orgId)}/databases/${dbId}` };
}

/** The tables of the page's database; the key is `tables/<database id>`. */
export function useTables() {
  const { ids } = useDatabase();
  return useLoad(`tables/${ids.dbId}`, (signal) => client.listTables(ids, { signal }));
}

export function TablesPage() {
  const { ids, path } = useDatabase();
  const go = useGo();
  const tables = useTables();
  const [isCreating, setCreating] = useState(false);
  const databases = useLoad(
    `databases/${ids.orgId}`,
    async (signal) => (await client.listDatabases({ orgId: ids.orgId }, { signal })).databases,
  );
  const name = databases.data?.find(({ id }) => id === ids.dbId)?.name;
  return (
    <Page
      title={name ?? "Tables"}
      about={<a href={`${paths.organization(ids.orgId)}/databases`}>All databases</a>}
      actions={
        <Button kind="primary" onClick={() => setCreating(true)}>
          Create table
        </Button>
      }
    >
      <Loading of={tables} what="tables">
        {({ tables }) =>
          tables.length === 0 ? (
            <EmptyState title="No tables yet">
              <p>
                A table holds rows with the columns that you define. Create one here, or let an app do it with the SDK.
              </p>
            </EmptyState>
          ) : (
            <Table
              label="Tables"
              rows={tables}
              rowKey={({ name }) => name}
              columns={[
                {
                  head: "Name",
                  cell: ({ name }) => (
                    <a href={`${path}/tables/${name}`}>
                      <UserText strong>{name}</UserText>
                    </a>
                  ),
                },
                { head: "Columns", cell: (table) => ownColumns(table).length, align: "end" },
                { head: "Comment", cell: ({ comment }) => <UserText>{comment}</UserText> },
              ]}
            />
          )
        }
      </Loading>
      {isCreating && (
        <NewTableDialog
          ids={ids}
          onClose={() => setCreating(false)}
          onCreated={(table) => go(`${path}/tables/${table}`)}
        />
      )}
    </Page>
  );
}
