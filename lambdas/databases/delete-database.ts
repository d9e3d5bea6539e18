import { deleteDatabase } from "../../api/databases.ts";
import { endpoint } from "../http/endpoint.ts";
import { notFound } from "../http/problem.ts";
import { retryConflicts } from "../http/retry.ts";
import { countDown } from "../organizations/model/totals.ts";
import { newRemoval } from "../removals/model/removal.ts";
import { checkConfirmed, startRemoval } from "../removals/model/start-removal.ts";
import { Database, DatabaseEntry, databaseAt } from "../tables/model/database.ts";
import { existingDatabase } from "../tables/model/existing-database.ts";

/** The database is gone with the transaction; an execution drops its tables and its role (ADR 0016). */
export const handler = endpoint(
  deleteDatabase,
  ({ params, query, access, now }, { removals }) =>
    retryConflicts("The database", async () => {
      const { database } = await access.read({ database: databaseAt(params) });
      if (!database) throw notFound();
      checkConfirmed(query.confirm, database);
      const { id, organizationId, name } = database;
      const removal = newRemoval({ kind: "database", id, organizationId, buildId: null }, removals.settleSeconds, now);
      const outcome = await access.commit({
        database: Database.delete({ id }, { name }),
        entry: DatabaseEntry.delete({ organizationId, id }),
        totals: countDown(database, "databases"),
        removal: removal.write,
      });
      if (!outcome.ok) return undefined;
      await startRemoval(removal.row, removals);
      return { database: id };
    }),
  existingDatabase,
);
