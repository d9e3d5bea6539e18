import * as z from "zod";
import type { Route } from "../../api/route.ts";
import type { Issue, Problem } from "./problem.ts";

type LateValidated<R extends Route> = Route<
  R["id"],
  R["path"],
  Omit<R["definition"], "query" | "body"> & { query: z.ZodObject; body: z.ZodUnknown; lateValidation: true }
>;

/**
 * The route with its input not yet validated: whether a table, a row or a build that a query names exists is known only after
 * it was read, and 404 comes before 400 (docs/api.md, Order of checks). The handler calls `validate` after that.
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
