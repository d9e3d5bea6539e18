import { deleteCredential } from "../../api/credentials.ts";
import { endpoint } from "../http/endpoint.ts";
import { AccessKey, ProjectKeys } from "../http/model/credentials.ts";
import { notFound } from "../http/problem.ts";
import { present } from "../table/entity.ts";

export const handler = endpoint(deleteCredential, async ({ params, access }) => {
  const { projectId } = params;
  const { rows } = await access.read(ProjectKeys.key({ projectId }));
  const key = ProjectKeys.maybe(rows[0])?.keys.find((one) => String(one.id) === params.credentialId);
  if (!key) throw notFound();
  const entry = `key_${key.id}`;
  const outcome = await access.commit([
    {
      kind: "update",
      key: ProjectKeys.key({ projectId }),
      set: {},
      remove: [entry],
      add: { held: -1 },
      when: { [entry]: present },
    },
    AccessKey.delete({ access: key.access }),
  ]);
  if (!outcome.ok) throw notFound();
  return { credential: key.id };
});
