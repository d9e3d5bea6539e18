import * as z from "zod";
import type { Route } from "../../../api/route.ts";
import type { Access } from "../../http/access.ts";
import { Replay } from "../../http/idempotency.ts";
import { type Issue, notFound, type Problem } from "../../http/problem.ts";

type LateValidated<R extends Route> = Route<
  R["id"],
  R["path"],
  Omit<R["definition"], "query" | "body"> & { query: z.ZodObject; body: z.ZodUnknown; lateValidation: true }
>;

/**
 * The route with its input not yet validated: whether a table or a row exists is known only after a query, and
 * 404 comes before 400 (docs/api.md, Order of checks). The handler calls `validate` after that query.
 */
export function lateValidation<const R extends Route>(route: R): LateValidated<R> {
  const { query: _query, body, ...definition } = route.definition;
  const unvalidated = {
    ...definition,
    query: z.looseObject({}),
    ...(body && { body: z.unknown() }),
    lateValidation: true,
  };
  return { ...route, definition: unvalidated } as unknown as LateValidated<R>;
}

type Output<S> = S extends z.ZodType ? z.output<S> : undefined;
type Input<R extends Route> = { query: Output<R["definition"]["query"]>; body: Output<R["definition"]["body"]> };

/** The input as the route declares it; throws 404 when `exists` does, else 400 with every rule that it breaks. */
export async function validate<const R extends Route>(
  route: R,
  call: { query: unknown; body: unknown; refusal(issues: Issue[]): Problem | undefined },
  exists: () => Promise<unknown> = async () => undefined,
): Promise<Input<R>> {
  const query = route.definition.query?.safeParse(call.query);
  const body = call.body === undefined ? undefined : route.definition.body?.safeParse(call.body);
  const issues = [...(query?.error?.issues ?? []), ...(body?.error?.issues ?? [])].map(
    (issue): Issue => ({ path: issue.path.join("."), message: issue.message }),
  );
  const refused = call.refusal(issues);
  if (!refused) return { query: query?.data, body: body?.data } as Input<R>;
  await exists();
  throw refused;
}

/** The row's id in a path; throws 404 if it cannot be a row's id. */
export function rowIdOf(text: string): number {
  const id = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(id)) throw notFound();
  return id;
}

/** Stores the response for its Idempotency-Key; throws the first response if a duplicate of this request was faster. */
export async function remember<T>(access: Access, reply: T): Promise<T> {
  if (access.idempotencyKey) {
    await access.commit({}, reply).catch((error) => {
      if (error instanceof Replay) throw error;
    });
  }
  return reply;
}
