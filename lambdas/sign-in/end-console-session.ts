import { endConsoleSession } from "../../api/sign-in.ts";
import { endpoint } from "../http/endpoint.ts";
import { ConsoleSession } from "../http/model/console-session.ts";
import { userOf } from "../http/presented-credential.ts";
import { notFound } from "../http/problem.ts";
import { present } from "../table/entity.ts";

export const handler = endpoint(
  endConsoleSession,
  async ({ params, access, credential }) => {
    const userId = userOf(credential) ?? "none";
    const { session } = await access.read({ session: ConsoleSession.at({ userId, id: params.sessionId }) });
    if (!session) throw notFound();
    const outcome = await access.commit({
      session: ConsoleSession.delete({ userId, id: session.id }, { pk: present }),
    });
    if (!outcome.ok) throw notFound();
    return { session: session.id };
  },
  {
    exists: ({ sessionId }, userId) => ({
      session: userId === undefined ? undefined : ConsoleSession.at({ userId, id: sessionId }),
    }),
  },
);
