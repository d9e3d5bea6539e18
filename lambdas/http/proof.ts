import { isId } from "../../api/ids.ts";
import { type Role, rolesFrom } from "../../api/role.ts";
import { openTo, type Route, type TokenAccess, tokenAccesses } from "../../api/route.ts";
import { type Condition, oneOf } from "../table/entity.ts";
import type { Rows } from "../table/reader.ts";
import { ConsoleBearer, ConsoleSession } from "./model/console-session.ts";
import { AccessKey, Membership, Session, Token } from "./model/credentials.ts";
import { Project, type ProjectRow } from "./model/project.ts";
import { type PresentedCredential, sameHash, userOf } from "./presented-credential.ts";
import { notFound, Problem, unauthorized } from "./problem.ts";

/** Who may call a route, as its declaration says. */
export interface CallerRule {
  /** Keys and sessions of apps are refused. */
  usersOnly: boolean;
  /** Only a user who is signed in to the console: a token, which can be bounded, would widen its own access. */
  consoleOnly: boolean;
  /** What a personal access token may be made for. */
  tokens: readonly TokenAccess[];
  /** A token may do it to itself. */
  ownToken: boolean;
  /** The least role of a user. */
  role: Role;
  /** Members with any role may do it to themselves. */
  orSelf: boolean;
  /** Only the project's managing members may do this (docs/api.md, Managing members). */
  managed: boolean;
}

/** The rule that a route declares. */
export function ruleOf(route: Pick<Route, "method" | "definition">): CallerRule {
  const { callers, role = "member", orSelf = false, errors } = route.definition;
  return {
    usersOnly: callers === "users",
    consoleOnly: errors.includes("sign_in_needed"),
    tokens: openTo(route),
    ownToken: route.definition.ownToken === true,
    role,
    orSelf,
    managed: errors.includes("not_a_manager"),
  };
}

/** What has to be proved: that this credential is valid for the organization and the project in the path. */
export interface ProofRequest {
  credential: PresentedCredential;
  orgId?: string | undefined;
  projectId?: string | undefined;
  /** The user in the path. */
  userId?: string | undefined;
  /** The token in the path. */
  tokenId?: string | undefined;
  rule: CallerRule;
  now: Date;
}

const bearerKey = ({ userId, sessionId, bearerId }: { userId: string; sessionId: string; bearerId: string }) => ({
  userId,
  sessionId,
  id: bearerId,
});

/** The rows that prove or refute a request. Their names differ from those that handlers give to their rows. */
export function proofPlaces({ credential, orgId, projectId }: ProofRequest) {
  const isToken = credential.kind === "token";
  const userId = userOf(credential);
  return {
    "proof:key": credential.kind === "key" ? AccessKey.at({ access: credential.access }) : undefined,
    "proof:session": credential.kind === "session" ? Session.at({ id: credential.sessionId }) : undefined,
    "proof:token": isToken ? Token.at({ userId: credential.userId, id: credential.tokenId }) : undefined,
    "proof:console":
      credential.kind === "console"
        ? ConsoleSession.at({ userId: credential.userId, id: credential.sessionId })
        : undefined,
    "proof:bearer": credential.kind === "console" ? ConsoleBearer.at(bearerKey(credential)) : undefined,
    "proof:membership":
      userId !== undefined && orgId !== undefined && isId("org", orgId)
        ? Membership.at({ userId, organizationId: orgId })
        : undefined,
    "proof:project": projectId !== undefined && isId("prj", projectId) ? Project.at({ id: projectId }) : undefined,
  };
}
export type ProofRows = Rows<ReturnType<typeof proofPlaces>>;

const isLive = (session: { expiresAt: string } | undefined, now: Date) =>
  session !== undefined && session.expiresAt > now.toISOString();

/** Throws 401 for an invalid credential, and 404 for an organization that is not the caller's. */
export function proveCaller({ credential, orgId, now }: ProofRequest, rows: ProofRows): void {
  const row = rows["proof:key"] ?? rows["proof:session"] ?? rows["proof:token"] ?? rows["proof:bearer"];
  // Signing out deletes the session, which ends its bearer tokens at once.
  if (credential.kind === "console" && !isLive(rows["proof:console"], now)) throw unauthorized();
  if (!row || !sameHash(row.hash, credential.hash)) throw unauthorized();
  if ("expiresAt" in row && row.expiresAt !== undefined && row.expiresAt <= now.toISOString()) throw unauthorized();
  if (orgId === undefined) return;
  const isOwn = "organizationId" in row ? row.organizationId === orgId : rows["proof:membership"] !== undefined;
  if (!isOwn || rows["proof:token"]?.organizationIds?.includes(orgId) === false) throw notFound();
}

/** Throws 404 for a project that is not the organization's. */
export function proveProject({ orgId, projectId }: ProofRequest, rows: ProofRows): void {
  if (projectId !== undefined && rows["proof:project"]?.organizationId !== orgId) throw notFound();
}

/** Throws the 403 for a caller who may not do this. */
export function provePermission({ credential, userId, tokenId, rule }: ProofRequest, rows: ProofRows): void {
  const caller = userOf(credential);
  if (caller === undefined) {
    if (rule.usersOnly) throw usersOnly();
    return;
  }
  const isOwnToken = rule.ownToken && credential.kind === "token" && credential.tokenId === tokenId;
  if (!isOwnToken && !rule.tokens.includes(rows["proof:token"]?.access ?? "all")) throw tokenScope(rule.tokens);
  if (rule.consoleOnly && credential.kind !== "console") throw signInNeeded();
  const role = rows["proof:membership"]?.role;
  if (role !== undefined && !rolesFrom(rule.role).includes(role) && !(rule.orSelf && caller === userId)) {
    throw forbidden(rule.role);
  }
  const project = rows["proof:project"];
  if (rule.managed && project?.managerIds?.includes(caller) === false) throw notAManager(project);
}

function usersOnly(): Problem {
  return new Problem("users_only", "Only a user can do this: use a personal access token instead of a key.");
}

function signInNeeded(): Problem {
  return new Problem("sign_in_needed", "Only a user who is signed in to the console can do this.");
}

/** The token was not made for this (docs/api.md, Personal access tokens). */
export function tokenScope(tokens: readonly TokenAccess[]): Problem {
  const needed = tokens.join(" or ");
  return new Problem("token_scope", `This token does not allow this: it takes one made with access ${needed}.`);
}

/** The caller's role is not enough (docs/api.md, Roles). */
export function forbidden(requiredRole: Role): Problem {
  const who = requiredRole === "owner" ? "Only owners" : "Only admins and owners";
  return new Problem("forbidden", `${who} of the organization can do this.`, { fields: { requiredRole } });
}

function notAManager(project: ProjectRow): Problem {
  const managers = project.managers ?? [];
  const names = managers.map((manager) => manager.name).join(", ");
  const message =
    managers.length === 0
      ? "This project has no managing members, so only API keys can do this."
      : `Only the managing members of this project can do this: ${names}.`;
  return new Problem("not_a_manager", message, { fields: { managers } });
}

/** The same proof as conditions of a transaction. If one fails, a read finds out which refusal it means. */
export function proofChecks(request: ProofRequest) {
  const { credential, orgId, projectId, userId, rule, now } = request;
  const { hash } = credential;
  const caller = userOf(credential);
  const isManager: Condition =
    rule.managed && caller !== undefined ? { managerIds: { is: "absentOrContains", value: caller } } : {};
  const hasRole: Condition =
    rule.role === "member" || (rule.orSelf && caller === userId) ? {} : { role: oneOf(...rolesFrom(rule.role)) };
  return {
    "proof:key": credential.kind === "key" ? AccessKey.check({ access: credential.access }, { hash }) : undefined,
    "proof:session":
      credential.kind === "session"
        ? Session.check({ id: credential.sessionId }, { hash, expiresAt: { is: "above", value: now.toISOString() } })
        : undefined,
    "proof:token":
      credential.kind === "token"
        ? Token.check({ userId: credential.userId, id: credential.tokenId }, tokenCondition(request))
        : undefined,
    "proof:console":
      credential.kind === "console"
        ? ConsoleSession.check(
            { userId: credential.userId, id: credential.sessionId },
            { expiresAt: { is: "above", value: now.toISOString() } },
          )
        : undefined,
    "proof:bearer":
      credential.kind === "console"
        ? ConsoleBearer.check(bearerKey(credential), { hash, expiresAt: { is: "above", value: now.toISOString() } })
        : undefined,
    "proof:membership":
      caller !== undefined && orgId !== undefined
        ? Membership.check({ userId: caller, organizationId: orgId }, { organizationId: orgId, ...hasRole })
        : undefined,
    "proof:project":
      orgId !== undefined && projectId !== undefined
        ? Project.check({ id: projectId }, { organizationId: orgId, ...isManager })
        : undefined,
  };
}

function tokenCondition({ credential, orgId, rule, now }: ProofRequest): Condition {
  return {
    hash: credential.hash,
    expiresAt: { is: "absentOrAbove", value: now.toISOString() },
    ...(orgId !== undefined && { organizationIds: { is: "absentOrContains", value: orgId } }),
    ...(rule.tokens.length < tokenAccesses.length && { access: { is: "absentOrOneOf", values: rule.tokens } }),
  };
}

/** What every later transaction of a proved request still checks: a project's rows are not written after its deletion. */
export function laterChecks({ orgId, projectId }: ProofRequest) {
  return {
    "proof:project":
      orgId !== undefined && projectId !== undefined
        ? Project.check({ id: projectId }, { organizationId: orgId })
        : undefined,
  };
}

/** Whether the credential can be valid for the path and the rule. If not, only a read can distinguish 401, 404 and 403. */
export function isPlausible({ credential, orgId, projectId, rule }: ProofRequest): boolean {
  if (orgId !== undefined && !isId("org", orgId)) return false;
  if (projectId !== undefined && !isId("prj", projectId)) return false;
  if (credential.kind === "token" || credential.kind === "console")
    return !rule.consoleOnly || credential.kind === "console";
  return !rule.usersOnly && (orgId === undefined || credential.organizationId === orgId);
}

/** A caller who was proved by a read. */
export type Caller =
  | {
      kind: "user";
      userId: string;
      /** In the organization of the path. */
      role: Role | undefined;
      /** What bounds a personal access token; absent is unbounded. */
      bounds: {
        access: TokenAccess;
        organizationIds?: readonly string[] | undefined;
        expiresAt?: string | undefined;
      };
    }
  | { kind: "organization"; organizationId: string };

/** The caller of a request whose proof succeeded with these rows. */
export function callerOf({ credential }: ProofRequest, rows: ProofRows): Caller {
  switch (credential.kind) {
    case "key":
    case "session":
      return { kind: "organization", organizationId: credential.organizationId };
    case "token":
    case "console": {
      const { access = "all", organizationIds, expiresAt } = rows["proof:token"] ?? {};
      const role = rows["proof:membership"]?.role;
      return { kind: "user", userId: credential.userId, role, bounds: { access, organizationIds, expiresAt } };
    }
  }
}
