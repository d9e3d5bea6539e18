import { isTableName } from "../../../api/tables.ts";
import type { DatabaseRunner } from "../../aws/databases.ts";
import type { ReadAccess } from "../../http/access.ts";
import { notFound, Problem } from "../../http/problem.ts";
import { readTable } from "./catalog.ts";
import { databaseAt } from "./database.ts";
import { type Session, sessionOn } from "./session.ts";
import { fetchRow } from "./stored-rows.ts";
import { rowIdOf } from "./validate.ts";

interface Params {
  orgId: string;
  dbId: string;
  tableName?: string;
  rowId?: string;
}

/** Throws 404 if the path names a table or a row that does not exist. */
async function checkNamed({ tableName, rowId }: Params, session: Session): Promise<void> {
  if (tableName === undefined) return;
  if (!isTableName(tableName)) throw notFound();
  if (rowId === undefined) await readTable(session, tableName);
  else await fetchRow(session, tableName, rowIdOf(rowId));
}

/** The database that the path names, if the caller owns it; throws 401, 404 and 403, 404 also for invalid names. */
export async function openDatabase(
  call: { access: ReadAccess; params: Params; now: Date },
  databases: DatabaseRunner,
): Promise<Session> {
  const { params, access, now } = call;
  const { database } = await access.read({ database: databaseAt(params) }).catch(async (error) => {
    // 404 comes before 403; that the database exists is checked by then (`existingDatabase`).
    if (error instanceof Problem && error.status === 403) {
      await checkNamed(params, sessionOn(databases, params.dbId, "", now));
    }
    throw error;
  });
  if (database?.organizationId !== params.orgId) throw notFound();
  if (params.tableName !== undefined && !isTableName(params.tableName)) throw notFound();
  return sessionOn(databases, database.id, database.secret, now);
}
