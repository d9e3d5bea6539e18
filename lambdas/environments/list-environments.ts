import { listEnvironments } from "../../api/environments.ts";
import { endpoint } from "../http/endpoint.ts";
import { variablesOf } from "./model/variables.ts";

export const handler = endpoint(listEnvironments, async ({ params, access }, { table }) => {
  const [, environments] = await Promise.all([access.read(), variablesOf(table, params.projectId)]);
  return { environments };
});
