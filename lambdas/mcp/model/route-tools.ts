import * as z from "zod";
import { routes } from "../../../api/index.ts";
import { organizationOf, textIn } from "./caller.ts";
import type { Tool } from "./tool.ts";

/** The organization may be left out if the credential reaches only one. */
export const orgId = z.string().optional().describe("Only needed if the credential reaches several organizations");

/** Sorts and bounds of the tool's query: numbers are numbers here, not text as in an address. */
function queryField(name: string): z.ZodType {
  return name === "limit" ? z.int().min(1).optional() : z.string().optional();
}

function inputOf({ path, definition }: (typeof routes)[number]): z.ZodObject {
  const params = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => String(name));
  const query = Object.keys(definition.query?.shape ?? {});
  return z.strictObject({
    ...Object.fromEntries(params.map((name) => [name, name === "orgId" ? orgId : z.string()])),
    ...Object.fromEntries(query.map((name) => [name, queryField(name)])),
  });
}

const measurements = z.looseObject({ points: z.array(z.record(z.string(), z.unknown())) });

/** An answer as a model gets it: 300 points as objects would be cut in the middle, and the newest ones lost; as rows they fit. */
export function compact(data: unknown): unknown {
  const { success, data: measured } = measurements.safeParse(data);
  if (!success) return data;
  const { points, ...rest } = measured;
  const columns = Object.keys(points[0] ?? {});
  return { ...rest, columns, points: points.map((point) => columns.map((name) => point[name])) };
}

/** The tools that are one route each: those that declare `tool`. */
export const routeTools: readonly Tool[] = routes.flatMap((route) => {
  const { tool } = route.definition;
  if (!tool) return [];
  return [
    {
      ...tool,
      input: inputOf(route),
      reads: route.method === "GET",
      run: async (caller, input) => {
        const organization = await organizationOf(caller, textIn(input, "orgId") || undefined);
        return { data: compact(await caller.call(route.id, { ...input, orgId: organization })) };
      },
    } satisfies Tool,
  ];
});
