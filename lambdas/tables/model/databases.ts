import type { DatabaseReply } from "../../../api/databases.ts";
import { countedVersion, countUp } from "../../organizations/model/totals.ts";
import { absent } from "../../table/entity.ts";
import { newId, randomText } from "../../table/ids.ts";
import { Database, DatabaseEntry, type DatabaseRow } from "./database.ts";

/** A database as callers see it. */
export function databaseReply(row: Omit<DatabaseRow, "secret" | "version">): DatabaseReply {
  const { id, name, createdAt, updatedAt } = row;
  return { id, name, status: "active", createdAt, updatedAt: updatedAt ?? createdAt };
}

/** A new database, counted in its organization; its schema is made on first use. */
export function newDatabase(organizationId: string, name: string, now: Date) {
  const at = now.toISOString();
  const entry = { id: newId("dbs", now), organizationId, name, version: countedVersion, createdAt: at, updatedAt: at };
  const row = { ...entry, secret: randomText(32) };
  return {
    row,
    writes: {
      database: Database.put(row, row, { pk: absent }),
      entry: DatabaseEntry.put(entry, entry),
      totals: countUp(organizationId, "databases"),
    },
  };
}
