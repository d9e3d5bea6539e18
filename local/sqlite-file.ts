import { chmodSync, closeSync, mkdirSync, openSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const damagedCodes: readonly unknown[] = [11, 26];

/**
 * Opens a SQLite file that only this user can read. A damaged file is renamed to `.damaged` and a new one is created,
 * so that the service still starts.
 */
export function openSqliteFile(path: string, schema: string): DatabaseSync {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, "a", 0o600));
  const database = new DatabaseSync(path);
  try {
    // Write-ahead logging survives a SIGKILL at any instant without a sync for each write.
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; ${schema}`);
    chmodSync(path, 0o600);
    return database;
  } catch (error) {
    database.close();
    if (!(error instanceof Error && "errcode" in error && damagedCodes.includes(error.errcode))) throw error;
    renameSync(path, `${path}.damaged`);
    return openSqliteFile(path, schema);
  }
}
