import { createCredential } from "../../api/credentials.ts";
import { limits } from "../../api/limits.ts";
import { endpoint } from "../http/endpoint.ts";
import { AccessKey, ProjectKeys } from "../http/model/credentials.ts";
import { newKeyPair, secretHash } from "../http/presented-credential.ts";
import { Problem } from "../http/problem.ts";
import { retryConflicts } from "../http/retry.ts";
import { absent } from "../table/entity.ts";
import { firstCredentialId, projectKeysReply } from "./model/project-keys.ts";

export const handler = endpoint(createCredential, async ({ params, body, access, now }) => {
  const { projectId } = params;
  const { access: accessKey, secret } = newKeyPair(params.orgId);
  const createdAt = now.toISOString();
  const { description } = body;
  let id = firstCredentialId(now);
  return retryConflicts("The project's keys", async () => {
    const credential = { id, access: accessKey, description, expiredAt: null, createdAt };
    const outcome = await access.commit(
      {
        keys: ProjectKeys.update(
          { projectId },
          {
            set: { [`key_${id}`]: { id, access: accessKey, description, createdAt }, lastId: id },
            add: { held: 1 },
          },
          {
            held: { is: "absentOrBelow", value: limits.appKeysPerProjectMax },
            lastId: { is: "absentOrBelow", value: id },
          },
        ),
        key: AccessKey.put(
          { access: accessKey },
          {
            access: accessKey,
            hash: secretHash(secret),
            organizationId: params.orgId,
            projectId,
            credentialId: id,
            manual: true,
            description,
            createdAt,
          },
          { pk: absent },
        ),
      },
      { credential },
    );
    if (outcome.ok) return { credential: { ...credential, secret } };
    const stored = outcome.failed.keys?.old;
    if (stored && stored.held >= limits.appKeysPerProjectMax) {
      throw new Problem(
        "credential_limit",
        `The project already holds ${limits.appKeysPerProjectMax} app keys. Reuse one of them, or delete one that its owner names.`,
        { fields: { credentials: projectKeysReply(stored) } },
      );
    }
    id = Math.max(id, stored?.lastId ?? 0) + 1;
    return undefined;
  });
});
