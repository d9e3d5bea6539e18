import { deletePasskey } from "../../api/sign-in.ts";
import { endpoint } from "../http/endpoint.ts";
import { userOf } from "../http/presented-credential.ts";
import { notFound } from "../http/problem.ts";
import { present } from "../table/entity.ts";
import { Passkey } from "./model/passkeys.ts";

export const handler = endpoint(
  deletePasskey,
  async ({ params, access, credential }) => {
    const userId = userOf(credential) ?? "none";
    const { passkey } = await access.read({ passkey: Passkey.at({ userId, id: params.passkeyId }) });
    if (!passkey) throw notFound();
    const outcome = await access.commit({ passkey: Passkey.delete({ userId, id: passkey.id }, { pk: present }) });
    if (!outcome.ok) throw notFound();
    return { passkey: passkey.id };
  },
  {
    exists: ({ passkeyId }, userId) => ({
      passkey: userId === undefined ? undefined : Passkey.at({ userId, id: passkeyId }),
    }),
  },
);
