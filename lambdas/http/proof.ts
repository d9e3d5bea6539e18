import { isId } from "../../api/ids.ts";
import type { Condition } from "../table/entity.ts";
import type { Rows } from "../table/reader.ts";
import type { Failed } from "../table/writer.ts";
import { AccessKey, Membership, Session, Token } from "./model/credentials.ts";
import { Project, type ProjectRow } from "./model/project.ts";
import { type PresentedCredential, sameHash } from "./presented-credential.ts";
import { notFound, Problem, unauthorized } from "./problem.ts";

/** What has to be proved: that this credential is good for the organization and the project in the path. */
export interface ProofRequest {
  credential: PresentedCredential;
  orgId?: string | undefined;
  projectId?: string | undefined;
  /** Whether only the project's managing members may do this (docs/api.md, Managing members). */
  managed: boolean;
  now: Date;
}

/** The rows that prove or refute a request. Their names differ from those that handlers give to their rows. */
export function proofPlaces({ credential, orgId, projectId }: ProofRequest) {
  const isToken = credential.kind === "token";
  return {
    "proof:key": credential.kind === "key" ? AccessKey.at({ access: credential.access }) : undefined,
    "proof:session": credential.kind === "session" ? Session.at({ id: credential.sessionId }) : undefined,
    "proof:token": isToken ? Token.at({ userId: credential.userId, id: credential.tokenId }) : undefined,
    "proof:membership":
      isToken && orgId !== undefined && isId("org", orgId)
        ? Membership.at({ userId: credential.userId, organizationId: orgId })
        : undefined,
    "proof:project": projectId !== undefined && isId("prj", projectId) ? Project.at({ id: projectId }) : undefined,
  };
}
export type ProofRows = Rows<ReturnType<typeof proofPlaces>>;

/** Throws 401 for a credential that is not good, and 404 for an organization that is not the caller's. */
export function proveCaller({ credential, orgId, now }: ProofRequest, rows: ProofRows): void {
  const row = rows["proof:key"] ?? rows["proof:session"] ?? rows["proof:token"];
  if (!row || !sameHash(row.hash, credential.hash)) throw unauthorized();
  if ("expiresAt" in row && row.expiresAt <= now.toISOString()) throw unauthorized();
  if (orgId === undefined) return;
  const isOwn = "organizationId" in row ? row.organizationId === orgId : rows["proof:membership"] !== undefined;
  if (!isOwn) throw notFound();
}

/** Throws 404 for a project that is not the organization's, and 403 for a user who is not one of its managers. */
export function proveProject({ credential, orgId, projectId, managed }: ProofRequest, rows: ProofRows): void {
  if (projectId === undefined) return;
  const project = rows["proof:project"];
  if (!project || project.organizationId !== orgId) throw notFound();
  if (!managed || credential.kind !== "token" || !project.managerIds) return;
  if (!project.managerIds.includes(credential.userId)) throw notAManager(project);
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

/** The same proof as conditions of a transaction. */
export function proofChecks({ credential, orgId, projectId, managed, now }: ProofRequest) {
  const { hash } = credential;
  const isToken = credential.kind === "token";
  const isManager: Condition =
    managed && isToken ? { managerIds: { is: "absentOrContains", value: credential.userId } } : {};
  return {
    "proof:key": credential.kind === "key" ? AccessKey.check({ access: credential.access }, { hash }) : undefined,
    "proof:session":
      credential.kind === "session"
        ? Session.check({ id: credential.sessionId }, { hash, expiresAt: { is: "above", value: now.toISOString() } })
        : undefined,
    "proof:token": isToken ? Token.check({ userId: credential.userId, id: credential.tokenId }, { hash }) : undefined,
    "proof:membership":
      isToken && orgId !== undefined
        ? Membership.check({ userId: credential.userId, organizationId: orgId }, { organizationId: orgId })
        : undefined,
    "proof:project":
      orgId !== undefined && projectId !== undefined
        ? Project.check({ id: projectId }, { organizationId: orgId, ...isManager })
        : undefined,
  };
}
export type FailedChecks = Failed<ReturnType<typeof proofChecks>>;

/** The refusal that failed checks mean, in the order 401, 404, 403 (docs/api.md, Order of checks). */
export function refusalOf(failed: FailedChecks, { orgId }: ProofRequest): Problem | undefined {
  if (failed["proof:key"] || failed["proof:session"] || failed["proof:token"]) return unauthorized();
  if (failed["proof:membership"]) return notFound();
  const project = failed["proof:project"];
  if (!project) return undefined;
  return project.old && project.old.organizationId === orgId ? notAManager(project.old) : notFound();
}

/** Whether the credential can be good for the path. If not, only a read can tell 401 from 404. */
export function isPlausible({ credential, orgId, projectId }: ProofRequest): boolean {
  if (orgId !== undefined && !isId("org", orgId)) return false;
  if (projectId !== undefined && !isId("prj", projectId)) return false;
  return credential.kind === "token" || orgId === undefined || credential.organizationId === orgId;
}
