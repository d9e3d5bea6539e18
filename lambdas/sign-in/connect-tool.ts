import { connectTool } from "../../api/sign-in.ts";
import { endpoint } from "../http/endpoint.ts";
import { newEvent } from "../http/events.ts";
import { ConsoleSession } from "../http/model/console-session.ts";
import { Event } from "../http/model/event.ts";
import { secretHash } from "../http/presented-credential.ts";
import { unauthorized } from "../http/problem.ts";
import { newTokenOf } from "../me/model/new-token.ts";
import { tokenReply } from "../me/model/replies.ts";
import { ConnectionCode, isVerifiedBy } from "./model/connection-code.ts";

/** Every failure is the same 401. The code is deleted with the making of the token, so that it is good once. */
export const handler = endpoint(connectTool, async ({ body, now }, { table }) => {
  const codeHash = secretHash(body.code);
  const { code } = await table.read({ code: ConnectionCode.at({ codeHash }) });
  if (!code || code.expiresAt <= now.toISOString() || !isVerifiedBy(body.verifier, code)) throw unauthorized();
  const { userId, sessionId, tool: description, access, organizationIds, challenge } = code;
  const { row, value, writes } = newTokenOf({ userId, description, access, organizationIds }, now);
  const actor = { kind: "user" as const, userId, sessionId };
  const event = newEvent(
    { ownerId: userId, action: connectTool.id, actor, ids: { tokenId: row.id }, outcome: "done" },
    now,
  );
  const outcome = await table.write({
    code: ConnectionCode.delete({ codeHash }, { challenge }),
    session: ConsoleSession.check({ userId, id: sessionId }, { expiresAt: { is: "above", value: now.toISOString() } }),
    ...writes,
    event: Event.put(event, event),
  });
  if (!outcome.ok) throw unauthorized();
  return { token: { ...tokenReply(row), value } };
});
