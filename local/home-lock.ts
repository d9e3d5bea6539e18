import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Another process holds the folder. */
export class HomeInUse extends Error {}

/**
 * Takes the data folder for this process: an operating-system lock (SQLite's) that a dead process cannot keep, with a pid
 * beside it for the message. Throws HomeInUse when somebody else has it.
 */
export function lockHome(home: string): { release(): void } {
  const database = new DatabaseSync(join(home, "lock.db"));
  const pidFile = join(home, "lock.pid");
  try {
    database.exec("PRAGMA journal_mode = DELETE; PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE");
  } catch {
    database.close();
    let owner = "another process";
    try {
      owner = `process ${readFileSync(pidFile, "utf8").trim()}`;
    } catch {
      // The owner has not written its pid yet.
    }
    throw new HomeInUse(
      `${home} is in use by ${owner}. Stop that service first, or set SLIPWAY_HOME to another folder.`,
    );
  }
  writeFileSync(pidFile, `${process.pid}\n`);
  return { release: () => database.close() };
}
