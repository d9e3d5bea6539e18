import { createHash, randomUUID } from "node:crypto";
import * as z from "zod";
import { AwsError, type RawRequest, type RawResponse, type RawService } from "../aws/service.ts";
import { sha256Hex } from "../aws/signature/canonical.ts";
import { type VerifiedSignature, verifySignature } from "../aws/signature/verify.ts";
import { type XmlElement, xmlDocument } from "../aws/xml.ts";
import { readSessionPolicy } from "./session-policy.ts";
import { type CredentialStore, localAccount, localRootArn, roleName, sessionSecondsMax } from "./store.ts";

export interface StsOptions {
  credentials: CredentialStore;
  now?: () => Date;
  /** The trust policy of the local roles; without it only the service's own root key may assume one. */
  mayAssume?: (callerArn: string, roleArn: string) => boolean;
}

const apiVersion = "2011-06-15";
const namespace = `https://sts.amazonaws.com/doc/${apiVersion}/`;

const assumeRoleSchema = z.object({
  RoleArn: z.string().regex(/^arn:aws:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/),
  RoleSessionName: z.string().regex(/^[\w+=,.@-]{2,64}$/),
  Policy: z.string().min(1).max(2048).optional(),
  DurationSeconds: z.coerce.number().int().min(900).max(sessionSecondsMax).default(3600),
});

type XmlFields = { [name: string]: string | XmlFields };

const elementsOf = (fields: XmlFields): XmlElement[] =>
  Object.entries(fields).map(([name, value]) => [name, typeof value === "string" ? value : elementsOf(value)]);

function answer(status: number, root: string, content: XmlFields): RawResponse {
  return {
    status,
    headers: { "content-type": "text/xml" },
    body: xmlDocument(root, namespace, elementsOf(content)),
  };
}

function errorAnswer(error: unknown): RawResponse {
  const known = error instanceof AwsError ? error : new AwsError("InternalFailure", "An internal error occurred.", 500);
  const Type = known.status < 500 ? "Sender" : "Receiver";
  const fields = { Error: { Type, Code: known.code, Message: known.message }, RequestId: randomUUID() };
  return answer(known.status, "ErrorResponse", fields);
}

/** A role's unique id: the same for every session of the role. */
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

/** Parameters that would change what the session may do or is called, and the permission that AWS asks for each. */
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
      throw new AwsError("ValidationError", "The local STS has no managed policies: use Policy", 400);
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

/** The form of a request that is meant for STS; other services share the port and the path. */
function stsForm(request: RawRequest): URLSearchParams | undefined {
  if (request.method !== "POST" || request.path !== "/") return undefined;
  const scope = /Credential=[^,\s/]+\/\d+\/[^/]+\/([^/]+)\/aws4_request/.exec(request.headers.authorization ?? "");
  const isForm = (request.headers["content-type"] ?? "").startsWith("application/x-www-form-urlencoded");
  const form = new URLSearchParams(isForm ? request.body.toString("utf8") : "");
  if (scope) return scope[1] === "sts" ? form : undefined;
  return form.get("Version") === apiVersion && form.has("Action") ? form : undefined;
}

function run(request: RawRequest, form: URLSearchParams, options: StsOptions): RawResponse {
  const verdict = verifySignature(request, sha256Hex(request.body), {
    style: "sts",
    credentials: options.credentials,
    now: options.now ?? (() => new Date()),
  });
  if (!verdict.ok) throw new AwsError(verdict.code, verdict.message, verdict.status);
  const action = form.get("Action") ?? "";
  const respond = (result: XmlFields) =>
    answer(200, `${action}Response`, {
      [`${action}Result`]: result,
      ResponseMetadata: { RequestId: randomUUID() },
    });
  if (action === "GetCallerIdentity") return respond(callerIdentity(verdict));
  if (action === "AssumeRole") return respond(assumeRole(verdict, form, options));
  throw new AwsError("InvalidAction", `Could not find operation ${action} for version ${apiVersion}`, 400);
}

/** AssumeRole and GetCallerIdentity of the STS query protocol; every caller's signature is verified (403 otherwise). */
export function stsService(options: StsOptions): RawService {
  return async (request) => {
    const form = stsForm(request);
    if (!form) return undefined;
    try {
      return run(request, form, options);
    } catch (error) {
      return errorAnswer(error);
    }
  };
}
