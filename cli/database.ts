import { Failure } from "./failure.ts";

export const databaseOption = { type: "string", value: "id", describe: "the database (SLIPWAY_DATABASE)" } as const;

/** The database that a command is about; throws if none is selected. */
export function databaseOf(
  named: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  local: string | undefined,
): string {
  const dbId = named ?? (environment.SLIPWAY_DATABASE || local);
  if (!dbId)
    throw new Failure(
      "No database is selected. Use --database <id>, or set SLIPWAY_DATABASE. List them with: slipway databases list",
    );
  return dbId;
}
