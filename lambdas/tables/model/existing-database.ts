import { databaseAt } from "./database.ts";

/** For a route's `exists`: 404 for a database that is not the organization's comes before every 403. */
export const existingDatabase = { exists: (params: { dbId: string }) => ({ database: databaseAt(params) }) };
