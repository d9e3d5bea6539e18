import { createHash } from "node:crypto";
import { isId } from "../../api/ids.ts";
import { limits } from "../../api/limits.ts";
import type { Role } from "../../api/organizations.ts";
import type { Condition, Key, Write } from "../table/entity.ts";
import type { Item, Outcome, TableReader, TableWriter } from "../table/table.ts";
import { AccessKey, Membership, ProjectKeys, Session, Token } from "./model/credentials.ts";
import { IdempotencyRecord } from "./model/idempotency-record.ts";
import { Project, type ProjectRow } from "./model/project.ts";
import { type PresentedCredential, sameHash } from "./presented-credential.ts";
import { idempotencyMismatch, notFound, Problem, unauthorized } from "./problem.ts";

/** Who calls, once proved. A user's organization is the one that the path names. */
export type Caller =
  | { kind: "key" | "session"; organizationId: string }
  | { kind: "token"; userId: string; role: Role | null };

/** The stored first answer to an Idempotency-Key; thrown past the handler and answered by `endpoint`. */
export class Replay {
  readonly reply: unknown;
  constructor(reply: unknown) {
    this.reply = reply;
  }
}

export interface Authorized {
  caller: Caller;
  /** The row of the path's project; absent on routes without one. */
  project?: ProjectRow;
  /** The rows asked for, in the order of their keys. */
  rows: (Item | undefined)[];
}

export interface Access {
  /** Proves the caller and fetches the named rows in ONE BatchGetItem; throws 401, 404 or 403. */
  read(...keys: Key[]): Promise<Authorized>;
  /** Proves the caller (unless `read` already has) and writes, in ONE TransactWriteItems; throws 401, 404 or 403. */
  commit(writes: readonly Write[], remember?: unknown): Promise<Outcome>;
  /** What stands for the request's Idempotency-Key, for work that is not done in the table; absent without a key. */
  once?: Once;
}

/** One caller's Idempotency-Key on one path, and the body that it came with. */
export interface Once {
  hash: string;
  bodyHash: string;
}

interface Request {
  credential: PresentedCredential;
  orgId?: string;
  projectId?: string;
  /** Whether the project's managing members apply to this route (SPEC §5 rule 7). */
  managed: boolean;
  /** The rows that the path names beside organization and project: a missing one is a 404, which comes before the 403. */
  named?: readonly Key[];
  idempotency?: { key: string; path: string; bodyHash: string };
  now: Date;
}

function credentialRows(request: Request): Key[] {
  const { credential } = request;
  switch (credential.kind) {
    case "key":
      return [AccessKey.key({ access: credential.access })];
    case "session":
      return [Session.key({ id: credential.sessionId })];
    case "token": {
      const membership = request.orgId && isId("org", request.orgId);
      const ids = { userId: credential.userId, organizationId: request.orgId ?? "" };
      return [
        Token.key({ userId: credential.userId, id: credential.tokenId }),
        ...(membership ? [Membership.key(ids)] : []),
      ];
    }
  }
}

/** The caller that the fetched rows prove; throws 401, or 404 for an organization that is not the caller's. */
function proveCaller(request: Request, rows: (Item | undefined)[]): Caller {
  const { credential, orgId, now } = request;
  if (credential.kind === "token") {
    const token = Token.maybe(rows[0]);
    if (!token || !sameHash(token.hash, credential.hash)) throw unauthorized();
    const membership = Membership.maybe(rows[1]);
    if (orgId !== undefined && !membership) throw notFound();
    return { kind: "token", userId: credential.userId, role: membership?.role ?? null };
  }
  const row = credential.kind === "key" ? AccessKey.maybe(rows[0]) : Session.maybe(rows[0]);
  if (!row || !sameHash(row.hash, credential.hash)) throw unauthorized();
  if ("expiresAt" in row && row.expiresAt <= now.toISOString()) throw unauthorized();
  if (orgId !== undefined && orgId !== row.organizationId) throw notFound();
  return { kind: credential.kind, organizationId: row.organizationId };
}

function proveProject(request: Request, caller: Caller, item: Item | undefined): ProjectRow {
  const project = Project.maybe(item);
  if (!project || project.organizationId !== request.orgId) throw notFound();
  if (request.managed && caller.kind === "token" && project.managerIds && !project.managerIds.includes(caller.userId)) {
    throw notAManager(project);
  }
  return project;
}

function notAManager(project: ProjectRow): Problem {
  const managers = project.managers ?? [];
  const names = managers.map((manager) => manager.name).join(", ") || "nobody";
  return new Problem("not_a_manager", `Only the managing members of this project can do this: ${names}.`, {
    fields: { managers },
  });
}

/** The same proof as conditions of a transaction: what must hold, and what it means when it does not. */
function checksOf(request: Request): { write: Write; refuse: (old: Item | undefined) => Problem }[] {
  const { credential, orgId, projectId, now } = request;
  const checks: { write: Write; refuse: (old: Item | undefined) => Problem }[] = [];
  switch (credential.kind) {
    case "key":
      checks.push({
        write: AccessKey.check({ access: credential.access }, { hash: credential.hash }),
        refuse: unauthorized,
      });
      break;
    case "session": {
      const alive: Condition = { hash: credential.hash, expiresAt: { is: "above", value: now.toISOString() } };
      checks.push({ write: Session.check({ id: credential.sessionId }, alive), refuse: unauthorized });
      break;
    }
    case "token":
      checks.push({
        write: Token.check({ userId: credential.userId, id: credential.tokenId }, { hash: credential.hash }),
        refuse: unauthorized,
      });
      if (orgId !== undefined) {
        const membership = { userId: credential.userId, organizationId: orgId };
        checks.push({ write: Membership.check(membership, { organizationId: orgId }), refuse: notFound });
      }
  }
  if (projectId !== undefined && orgId !== undefined) {
    const byUser = request.managed && credential.kind === "token";
    const condition: Condition = {
      organizationId: orgId,
      ...(byUser && { managerIds: { is: "absentOrContains", value: credential.userId } }),
    };
    checks.push({
      write: Project.check({ id: projectId }, condition),
      refuse: (old) => {
        const project = Project.maybe(old);
        return project && project.organizationId === orgId ? notAManager(project) : notFound();
      },
    });
  }
  return checks;
}

/** Whether the credential and the path can belong together at all; if not, only `read` can tell 401 from 404. */
function isPlausible(request: Request): boolean {
  const { credential, orgId, projectId } = request;
  if (orgId !== undefined && !isId("org", orgId)) return false;
  if (projectId !== undefined && !isId("prj", projectId)) return false;
  return credential.kind === "token" || orgId === undefined || credential.organizationId === orgId;
}

function callerName(credential: PresentedCredential): string {
  switch (credential.kind) {
    case "key":
      return credential.access;
    case "token":
      return credential.userId;
    case "session":
      return credential.sessionId;
  }
}

function rememberedHash(request: Request): string | undefined {
  if (!request.idempotency) return undefined;
  const { key, path } = request.idempotency;
  return createHash("sha256")
    .update(JSON.stringify([callerName(request.credential), path, key]))
    .digest("base64url");
}

function replayOf(request: Request, item: Item | undefined): void {
  const row = IdempotencyRecord.maybe(item);
  if (!row || row.expiresAt <= request.now.toISOString()) return;
  if (row.bodyHash !== request.idempotency?.bodyHash) throw idempotencyMismatch();
  throw new Replay(JSON.parse(row.reply));
}

const touchedMinutes = new Map<string, string>();

/** Moves a key's lastUsedAt forward, to the minute, beside the request: nobody waits for it and its failure is no failure. */
function touchKey(table: TableWriter, credential: PresentedCredential, now: Date): void {
  if (credential.kind === "session") return;
  const minute = new Date(Math.floor(now.getTime() / 60_000) * 60_000).toISOString();
  const name = credential.kind === "key" ? credential.access : credential.tokenId;
  if (touchedMinutes.get(name) === minute) return;
  if (touchedMinutes.size > 10_000) touchedMinutes.clear();
  touchedMinutes.set(name, minute);
  const forward: Condition = { hash: credential.hash, lastUsedAt: { is: "absentOrBelow", value: minute } };
  const write =
    credential.kind === "key"
      ? AccessKey.update({ access: credential.access }, { set: { lastUsedAt: minute } }, forward)
      : Token.update({ userId: credential.userId, id: credential.tokenId }, { set: { lastUsedAt: minute } }, forward);
  if (write.kind !== "update") return;
  table
    .touch(write)
    .then((item) => {
      const key = credential.kind === "key" ? AccessKey.maybe(item) : undefined;
      if (!key?.manual) return undefined;
      const { pk, sk } = ProjectKeys.key({ projectId: key.projectId });
      const entry = `key_${key.credentialId}`;
      return table.touch({
        kind: "update",
        key: { pk, sk },
        set: { [`${entry}.lastUsedAt`]: minute },
        when: { [entry]: { is: "present" } },
      });
    })
    .catch(() => undefined);
}

/** Binds a request's credential to the table: authentication, authorization and the work's own rows in one round trip. */
export function accessFor(request: Request, table: TableReader & TableWriter): Access & { proved(): boolean } {
  let proved = false;
  const idempotencyHash = rememberedHash(request);

  async function read(...keys: Key[]): Promise<Authorized> {
    const { orgId, projectId } = request;
    const proof = credentialRows(request);
    const scope =
      orgId !== undefined && projectId !== undefined && isId("prj", projectId) ? [Project.key({ id: projectId })] : [];
    const memory = idempotencyHash ? [IdempotencyRecord.key({ hash: idempotencyHash })] : [];
    const items = await table.get([...proof, ...scope, ...memory, ...keys]);
    const caller = proveCaller(request, items.slice(0, proof.length));
    touchKey(table, request.credential, request.now);
    const found = items.slice(proof.length + scope.length + memory.length);
    const isMissing = (key: Key) => keys.some((one, index) => one.sk === key.sk && one.pk === key.pk && !found[index]);
    if (request.named?.some(isMissing)) throw notFound();
    const project =
      projectId === undefined
        ? undefined
        : proveProject(request, caller, scope.length ? items[proof.length] : undefined);
    proved = true;
    if (memory.length) replayOf(request, items[proof.length + scope.length]);
    return { caller, rows: found, ...(project && { project }) };
  }

  async function commit(writes: readonly Write[], remember?: unknown): Promise<Outcome> {
    if (!proved && !isPlausible(request)) await read();
    const checks = proved ? [] : checksOf(request);
    const memory = idempotencyHash && remember !== undefined ? [rememberWrite(idempotencyHash, remember)] : [];
    const outcome = await table.write([...checks.map((check) => check.write), ...memory, ...writes]);
    if (outcome.ok) {
      touchKey(table, request.credential, request.now);
      proved = true;
      return outcome;
    }
    for (const [index, check] of checks.entries()) {
      if (outcome.failed.has(index)) throw check.refuse(outcome.failed.get(index));
    }
    proved = true;
    touchKey(table, request.credential, request.now);
    if (memory.length && outcome.failed.has(checks.length)) replayOf(request, outcome.failed.get(checks.length));
    const skipped = checks.length + memory.length;
    return { ok: false, failed: new Map([...outcome.failed].map(([index, old]) => [index - skipped, old])) };
  }

  function rememberWrite(hash: string, reply: unknown): Write {
    const expires = new Date(request.now.getTime() + limits.idempotencyValidSeconds * 1000);
    return IdempotencyRecord.put(
      { hash },
      {
        bodyHash: request.idempotency?.bodyHash ?? "",
        reply: JSON.stringify(reply),
        expiresAt: expires.toISOString(),
        ttl: Math.ceil(expires.getTime() / 1000),
      },
      { expiresAt: { is: "absentOrBelow", value: request.now.toISOString() } },
    );
  }

  const once = request.idempotency &&
    idempotencyHash !== undefined && { hash: idempotencyHash, bodyHash: request.idempotency.bodyHash };
  return { read, commit, proved: () => proved, ...(once && { once }) };
}
