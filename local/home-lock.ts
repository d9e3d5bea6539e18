import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StartRefused } from "./start-refused.ts";

const sqliteBusy = 5;
const isBusy = (error: unknown) => error instanceof Error && "errcode" in error && error.errcode === sqliteBusy;

/**
 * Locks the data folder for this process. The lock is SQLite's file lock, which the system releases when the process
 * dies; the pid file is only for the message. Throws StartRefused if another process has the lock.
 */
export function lockHome(home: string): { release(): void } {
  const database = new DatabaseSync(join(home, "lock.db"));
  const pidFile = join(home, "lock.pid");
  try {
    database.exec("PRAGMA journal_mode = DELETE; PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (!isBusy(error)) throw error;
    let owner = "another process";
    try {
      owner = `process ${readFileSync(pidFile, "utf8").trim()}`;
    } catch {
      // The owner has not written its process id yet.
    }
    throw new StartRefused(
      `${home} is in use by ${owner}. Stop that service first, or set SLIPWAY_HOME to another folder.`,
    );
  }
  writeFileSync(pidFile, `${process.pid}\n`);
  return { release: () => database.close() };
}
