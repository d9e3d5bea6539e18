import { listCredentials } from "../../api/credentials.ts";
import { KeyRing } from "../data/rows.ts";
import { ringReply } from "../domain/credentials.ts";
import { endpoint } from "../kit/endpoint.ts";

export const handler = endpoint(listCredentials, async ({ params, access }) => {
  const { rows } = await access.read(KeyRing.key({ projectId: params.projectId }));
  const ring = KeyRing.maybe(rows[0]);
  return { credentials: ring ? ringReply(ring) : [] };
});
