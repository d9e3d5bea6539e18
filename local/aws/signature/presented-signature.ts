import { headerValue, type SignedRequest } from "./canonical.ts";

/** The signature parameters of a request, not verified yet. */
export interface PresentedSignature {
  form: "header" | "presigned";
  accessKeyId: string;
  sessionToken: string | undefined;
  /** `date/region/service/aws4_request` */
  scope: string;
  region: string;
  service: string;
  amzDate: string;
  signedAt: Date;
  /** Presigned addresses only. */
  validSeconds: number | undefined;
  signedHeaders: string[];
  signature: string;
}

export type PresentationProblem = "missing" | "two_mechanisms" | "malformed";

const presignedSecondsMax = 604_800;

function parseAmzDate(text: string): Date | undefined {
  const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text);
  if (!parts) return undefined;
  const [, year, month, day, hour, minute, second] = parts;
  const date = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

interface RawParts {
  credential: string | undefined;
  signedHeaders: string | undefined;
  signature: string | undefined;
  amzDate: string | undefined;
}

function assemble(raw: RawParts, rest: Pick<PresentedSignature, "form" | "sessionToken" | "validSeconds">) {
  const credential = /^([A-Za-z0-9]{4,128})\/((\d{8})\/([^/]+)\/([^/]+)\/aws4_request)$/.exec(raw.credential ?? "");
  const signedAt = parseAmzDate(raw.amzDate ?? "");
  const { signature } = raw;
  if (!credential || !signedAt || !signature || !raw.signedHeaders || !raw.amzDate) return "malformed";
  const [, accessKeyId = "", scope = "", day = "", region = "", service = ""] = credential;
  const signedHeaders = raw.signedHeaders.split(";");
  const isSorted = signedHeaders.every((name, i) => name === name.toLowerCase() && name > (signedHeaders[i - 1] ?? ""));
  if (!isSorted || !raw.amzDate.startsWith(day)) return "malformed";
  return { ...rest, accessKeyId, scope, region, service, amzDate: raw.amzDate, signedAt, signedHeaders, signature };
}

function fromQuery(query: URLSearchParams): PresentedSignature | PresentationProblem {
  const value = (name: string) => query.get(name) ?? undefined;
  const expires = value("X-Amz-Expires") ?? "";
  const validSeconds = Number(expires);
  if (value("X-Amz-Algorithm") !== "AWS4-HMAC-SHA256") return "malformed";
  if (!/^\d{1,6}$/.test(expires) || validSeconds < 1 || validSeconds > presignedSecondsMax) return "malformed";
  return assemble(
    {
      credential: value("X-Amz-Credential"),
      signedHeaders: value("X-Amz-SignedHeaders"),
      signature: value("X-Amz-Signature"),
      amzDate: value("X-Amz-Date"),
    },
    { form: "presigned", sessionToken: value("X-Amz-Security-Token"), validSeconds },
  );
}

function fromHeader(request: SignedRequest, authorization: string): PresentedSignature | PresentationProblem {
  const fields = /^AWS4-HMAC-SHA256\s+(.+)$/.exec(authorization)?.[1];
  if (!fields) return "malformed";
  const parts = new Map<string, string>();
  for (const field of fields.split(",")) {
    const [, name = "", value = ""] = /^\s*(Credential|SignedHeaders|Signature)=(\S+)\s*$/.exec(field) ?? [];
    // An unknown or repeated part would be ambiguous.
    if (name === "" || parts.has(name)) return "malformed";
    parts.set(name, value);
  }
  return assemble(
    {
      credential: parts.get("Credential"),
      signedHeaders: parts.get("SignedHeaders"),
      signature: parts.get("Signature"),
      amzDate: headerValue(request.headers, "x-amz-date"),
    },
    {
      form: "header",
      sessionToken: headerValue(request.headers, "x-amz-security-token"),
      validSeconds: undefined,
    },
  );
}

/** Whether the signature is in the query instead of the Authorization header. */
export function isPresigned(request: Pick<SignedRequest, "query">): boolean {
  return request.query.has("X-Amz-Algorithm") || request.query.has("X-Amz-Signature");
}

/** Reads the signature from the Authorization header or from the query of a presigned address. */
export function readSignature(request: SignedRequest): PresentedSignature | PresentationProblem {
  const { authorization } = request.headers;
  if (isPresigned(request)) return authorization === undefined ? fromQuery(request.query) : "two_mechanisms";
  return authorization === undefined ? "missing" : fromHeader(request, authorization);
}
