import { createHash } from "node:crypto";
import * as z from "zod";
import type { Faults } from "../aws/call-faults.ts";
import { AwsError } from "../aws/service.ts";
import type { VerifiedSignature } from "../aws/signature/verify.ts";
import { readSessionPolicy } from "./session-policy.ts";
import { type CredentialStore, localAccount, localRootArn, roleName, sessionSecondsMax } from "./store.ts";

export interface StsOptions {
  credentials: CredentialStore;
  now?: () => Date;
  /** The trust policy of the local roles; default: only the service's root key may assume them. */
  mayAssume?: (callerArn: string, roleArn: string) => boolean;
  faults?: Faults | undefined;
}

const assumeRoleSchema = z.object({
  RoleArn: z.string().regex(/^arn:aws:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/),
  RoleSessionName: z.string().regex(/^[\w+=,.@-]{2,64}$/),
  Policy: z.string().min(1).max(2048).optional(),
  DurationSeconds: z.coerce.number().int().min(900).max(sessionSecondsMax).default(3600),
});

/** The elements of an answer by name. */
export type XmlFields = { [name: string]: string | XmlFields };

/** The unique id of a role, which all its sessions share. */
function roleId(name: string): string {
  return `AROA${createHash("sha256").update(name).digest("hex").slice(0, 17).toUpperCase()}`;
}

function userId(principalArn: string): string {
  const [, role = "", session = ""] = /assumed-role\/(.+)\/(.+)$/.exec(principalArn) ?? [];
  return role ? `${roleId(role)}:${session}` : localAccount;
}

function callerIdentity(caller: VerifiedSignature): XmlFields {
  return { Arn: caller.principalArn, UserId: userId(caller.principalArn), Account: localAccount };
}

/** Unsupported parameters of AssumeRole and the permission that each one needs on AWS. */
const unsupported = [
  [/^(Tags|TransitiveTagKeys)(\.|$)/, "sts:TagSession"],
  [/^SourceIdentity$/, "sts:SetSourceIdentity"],
  [/^ProvidedContexts(\.|$)/, "sts:SetContext"],
] as const;

function refuseUnsupported(caller: VerifiedSignature, form: URLSearchParams, roleArn: string): void {
  for (const name of form.keys()) {
    const action = unsupported.find(([pattern]) => pattern.test(name))?.[1];
    if (action) throw notAuthorized(caller, action, roleArn);
    if (/^PolicyArns(\.|$)/.test(name)) {
      throw new AwsError("ValidationError", "The local STS does not support PolicyArns. Use Policy.", 400);
    }
    if (name === "SerialNumber" || name === "TokenCode") {
      throw new AwsError("AccessDenied", "MultiFactorAuthentication failed, unable to validate MFA code.", 403);
    }
  }
}

function notAuthorized(caller: VerifiedSignature, action: string, roleArn: string): AwsError {
  const message = `User: ${caller.principalArn} is not authorized to perform: ${action} on resource: ${roleArn}`;
  return new AwsError("AccessDenied", message, 403);
}

function assumeRole(caller: VerifiedSignature, form: URLSearchParams, options: StsOptions): XmlFields {
  const input = assumeRoleSchema.safeParse(Object.fromEntries(form));
  if (!input.success) throw new AwsError("ValidationError", z.prettifyError(input.error), 400);
  const { RoleArn: roleArn, RoleSessionName: sessionName, DurationSeconds: durationSeconds } = input.data;
  const mayAssume = options.mayAssume ?? ((callerArn) => callerArn === localRootArn);
  if (!mayAssume(caller.principalArn, roleArn)) {
    throw notAuthorized(caller, "sts:AssumeRole", roleArn);
  }
  refuseUnsupported(caller, form, roleArn);
  const policy = input.data.Policy === undefined ? undefined : readSessionPolicy(input.data.Policy);
  const issued = options.credentials.issue({ roleArn, sessionName, durationSeconds, ...(policy && { policy }) });
  const name = roleName(roleArn);
  return {
    AssumedRoleUser: {
      AssumedRoleId: `${roleId(name)}:${sessionName}`,
      Arn: `arn:aws:sts::${localAccount}:assumed-role/${name}/${sessionName}`,
    },
    Credentials: {
      AccessKeyId: issued.accessKeyId,
      SecretAccessKey: issued.secretAccessKey,
      SessionToken: issued.sessionToken,
      Expiration: issued.expiration.toISOString(),
    },
  };
}

/** The supported calls. */
export const stsCalls: Record<
  string,
  (caller: VerifiedSignature, form: URLSearchParams, options: StsOptions) => XmlFields
> = { AssumeRole: assumeRole, GetCallerIdentity: callerIdentity };
