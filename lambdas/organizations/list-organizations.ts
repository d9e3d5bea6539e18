import { listOrganizations } from "../../api/organizations.ts";
import { endpoint } from "../http/endpoint.ts";
import { organizationsOf } from "./model/organizations.ts";

export const handler = endpoint(listOrganizations, async (call, { table }) => {
  const { organizations } = await organizationsOf(call, table);
  return { organizations };
});
