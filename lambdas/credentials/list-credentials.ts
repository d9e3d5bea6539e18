import { listCredentials } from "../../api/credentials.ts";
import { endpoint } from "../http/endpoint.ts";
import { ProjectKeys } from "../http/model/credentials.ts";
import { projectKeysReply } from "./model/project-keys.ts";

export const handler = endpoint(listCredentials, async ({ params, access }) => {
  const { rows } = await access.read(ProjectKeys.key({ projectId: params.projectId }));
  const ring = ProjectKeys.maybe(rows[0]);
  return { credentials: ring ? projectKeysReply(ring) : [] };
});
