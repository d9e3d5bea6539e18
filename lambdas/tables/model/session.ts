import { sql } from "kysely";
import type { DatabaseRunner, ResultRow, Statement } from "../../aws/databases.ts";
import { DatabaseError } from "../../aws/errors.ts";
import { unavailable } from "../../http/problem.ts";
import { innerNames, ownStates } from "./inner-names.ts";
import { setupStatements } from "./setup.ts";
import { compile, type Query, type Sql } from "./sql.ts";

/** One database of an organization, for the time of one request. */
export interface Session {
  /** The database's id, which is the name of its schema and of its role. */
  schema: string;
  /** Seals the cursors of its lists. */
  secret: string;
  /** When the request has to be answered, in milliseconds. */
  until: number;
  /** Runs one statement as the database's own role: PostgreSQL refuses what belongs to another database. */
  query(query: Query): Promise<ResultRow[]>;
  /** Runs one of the database's functions. */
  call(statement: Statement): Promise<ResultRow[]>;
  /** Creates the objects that the database needs before its first table; it is idempotent. */
  prepare(): Promise<void>;
}

/** SQLSTATEs of a missing schema, table or function. */
const absent = { schema: "3F000", table: "42P01", function: "42883" } as const;

/** SQLSTATEs of a statement that was ended because it took too long: by itself, or by PostgreSQL's statement_timeout. */
const tooLong = new Set<string>([ownStates.tooLate, "57014"]);

export function isAbsent(error: unknown, ...what: (keyof typeof absent)[]): error is DatabaseError {
  return error instanceof DatabaseError && what.some((one) => absent[one] === error.state);
}

function queryStatement(schema: string, { sql: text, values, columns }: Query): Statement {
  const given = sql`cast(array[${sql.join(values.map((value) => sql`${value}`))}] as text[])`;
  const shape: Sql = sql.join(Object.entries(columns).map(([name, type]) => sql`${sql.id(name)} ${sql.raw(type)}`));
  const call = sql`${sql.id(schema, innerNames.query)}(${text}, ${given}, ${sql.raw(":until")})`;
  return { ...compile(sql`select * from ${call} as result(${shape})`), bounded: true };
}

/** A session on the database with this id, whose owner has been checked. */
export function sessionOn(databases: DatabaseRunner, schema: string, secret: string, startedAt: Date): Session {
  const until = startedAt.getTime() + databases.requestMs;
  const prepare = () => databases.runAll(setupStatements(schema), until);

  async function call(statement: Statement): Promise<ResultRow[]> {
    return databases.run(statement, until).catch(async (error) => {
      if (error instanceof DatabaseError && tooLong.has(error.state)) throw unavailable(error);
      if (!isAbsent(error, "function")) throw error;
      await prepare();
      return databases.run(statement, until);
    });
  }
  return { schema, secret, until, query: (query) => call(queryStatement(schema, query)), call, prepare };
}
