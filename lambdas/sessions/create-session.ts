import { limits } from "../../api/limits.ts";
import { createSession } from "../../api/sessions.ts";
import { accessFor } from "../http/access.ts";
import { endpoint } from "../http/endpoint.ts";
import { Session } from "../http/model/credentials.ts";
import { Project } from "../http/model/project.ts";
import { newSession, readCredential, type SessionOrigin, secretHash } from "../http/presented-credential.ts";
import { unauthorized } from "../http/problem.ts";
import { ruleOf } from "../http/proof.ts";
import { absent } from "../table/entity.ts";

const rule = ruleOf(createSession);

/** A session token, its row and its answer; the token itself is stored nowhere. */
function sessionOf(organizationId: string, origin: SessionOrigin, now: Date) {
  const { sessionId, token } = newSession(organizationId, origin);
  const expires = new Date(now.getTime() + limits.sessionValidSeconds * 1000);
  const row = {
    organizationId,
    hash: secretHash(token),
    expiresAt: expires.toISOString(),
    ttl: Math.ceil(expires.getTime() / 1000),
  };
  return {
    write: Session.put({ id: sessionId }, row, { pk: absent }),
    reply: { session: { token, organizationId, expiresAt: row.expiresAt } },
  };
}

export const handler = endpoint(
  createSession,
  async ({ body, headers, now, refusal }, { table, keyUses, tasks, identity }) => {
    const credential = readCredential(headers);
    const refused = refusal([]);
    if (refused) {
      // An unreadable body contains no proof, and 401 comes before 400 (docs/api.md, Order of checks).
      if (credential?.kind !== "key") throw unauthorized();
      await accessFor({ credential, now, rule }, { reader: table, keyUses }).read();
      throw refused;
    }
    if (body.proof) {
      const task = await identity.task(body.proof);
      const projectId = task && (await tasks.projectOf(task));
      if (!projectId) throw unauthorized();
      const { project } = await table.read({ project: Project.at({ id: projectId }) });
      if (!project) throw unauthorized();
      const { write, reply } = sessionOf(project.organizationId, { projectId }, now);
      await table.write({ session: write });
      return reply;
    }
    if (credential?.kind !== "key") throw unauthorized();
    const { write, reply } = sessionOf(credential.organizationId, { access: credential.access }, now);
    const access = accessFor({ credential, now, rule }, { reader: table, writer: table, keyUses });
    await access.commit({ session: write });
    return reply;
  },
);
