import { listCredentials } from "../../api/credentials.ts";
import { KeyRing } from "../table/rows.ts";
import { ringReply } from "./model/project-keys.ts";
import { endpoint } from "../http/endpoint.ts";

export const handler = endpoint(listCredentials, async ({ params, access }) => {
  const { rows } = await access.read(KeyRing.key({ projectId: params.projectId }));
  const ring = KeyRing.maybe(rows[0]);
  return { credentials: ring ? ringReply(ring) : [] };
});
