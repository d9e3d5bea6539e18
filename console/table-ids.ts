/** A table, as the client's calls take it. */
export interface TableIds {
  orgId: string;
  dbId: string;
  tableName: string;
}

/** The start of the keys under which a table's rows are loaded. */
export const rowsKey = ({ dbId, tableName }: TableIds) => `rows/${dbId}/${tableName}`;
