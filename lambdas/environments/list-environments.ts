import { listEnvironments } from "../../api/environments.ts";
import { limits } from "../../api/limits.ts";
import { endpoint } from "../http/endpoint.ts";
import { Variable } from "./model/rows.ts";

export const handler = endpoint(listEnvironments, async ({ params, access }, { table }) => {
  const [, page] = await Promise.all([
    access.read(),
    table.query({ pk: `PRJ#${params.projectId}`, prefix: "ENV#", limit: limits.variablesPerProjectMax }),
  ]);
  return { environments: page.items.map(Variable.read) };
});
