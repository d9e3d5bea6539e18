import { updateDatabase } from "../../api/databases.ts";
import { endpoint } from "../http/endpoint.ts";
import { notFound } from "../http/problem.ts";
import { countedVersion } from "../organizations/model/totals.ts";
import { present } from "../table/entity.ts";
import { Database, DatabaseEntry, databaseAt } from "../tables/model/database.ts";
import { databaseReply } from "../tables/model/databases.ts";
import { existingDatabase } from "../tables/model/existing-database.ts";

export const handler = endpoint(
  updateDatabase,
  async ({ params, body, access, now }) => {
    const { database } = await access.read({ database: databaseAt(params) });
    if (!database) throw notFound();
    const { secret: _, ...entry } = { ...database, name: body.name, updatedAt: now.toISOString() };
    const set = { name: entry.name, updatedAt: entry.updatedAt };
    const outcome = await access.commit({
      database: Database.update({ id: entry.id }, { set }, { pk: present }),
      entry: entry.version < countedVersion ? undefined : DatabaseEntry.put(entry, entry),
    });
    if (!outcome.ok) throw notFound();
    return { database: databaseReply(entry) };
  },
  existingDatabase,
);
