import { deleteCredential } from "../../api/credentials.ts";
import { endpoint } from "../http/endpoint.ts";
import { AccessKey, ProjectKeys } from "../http/model/credentials.ts";
import { notFound } from "../http/problem.ts";
import { type Item, present } from "../table/entity.ts";

/** The project's keys, if the one that the path names is among them. */
function keysWith({ projectId, credentialId }: { projectId: string; credentialId: string }) {
  const { key, read } = ProjectKeys.at({ projectId });
  return {
    key,
    read(item: Item) {
      const row = read(item);
      return row.keys.some(({ id }) => String(id) === credentialId) ? row : undefined;
    },
  };
}

export const handler = endpoint(
  deleteCredential,
  async ({ params, access }) => {
    const { projectId } = params;
    const stored = await access.read({ keys: ProjectKeys.at({ projectId }) });
    const key = stored.keys?.keys.find((one) => String(one.id) === params.credentialId);
    if (!key) throw notFound();
    const entry = `key_${key.id}`;
    const outcome = await access.commit({
      keys: ProjectKeys.update({ projectId }, { remove: [entry], add: { held: -1 } }, { [entry]: present }),
      key: AccessKey.delete({ access: key.access }),
    });
    if (!outcome.ok) throw notFound();
    return { credential: key.id };
  },
  { exists: (params) => ({ keys: keysWith(params) }) },
);
