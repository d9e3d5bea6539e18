import { listCredentials } from "../../api/credentials.ts";
import { endpoint } from "../http/endpoint.ts";
import { ProjectKeys } from "../http/model/credentials.ts";
import { projectKeysReply } from "./model/project-keys.ts";

export const handler = endpoint(listCredentials, async ({ params, access }) => {
  const { keys } = await access.read({ keys: ProjectKeys.at({ projectId: params.projectId }) });
  return { credentials: keys ? projectKeysReply(keys) : [] };
});
