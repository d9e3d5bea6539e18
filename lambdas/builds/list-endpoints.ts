import { listEndpoints } from "../../api/builds.ts";
import { endpoint } from "../http/endpoint.ts";
import { Addresses } from "./model/rows.ts";

export const handler = endpoint(listEndpoints, async ({ params, access }, { apps }) => {
  const { projectId } = params;
  const { addresses } = await access.read({ addresses: Addresses.at({ projectId }) });
  const url = addresses?.url ?? (await apps.address(projectId));
  const domains = Object.entries(addresses?.domains ?? {})
    .filter(([, status]) => status === "active")
    .map(([domain]) => `https://${domain}`)
    .sort();
  return { endpoints: [...(url === undefined ? [] : [url]), ...domains] };
});
