import type { XmlElement } from "../aws/xml.ts";
import { s3Document } from "./document.ts";

const defaults = {
  AccessControlListNotSupported: [400, "The bucket does not allow ACLs"],
  AccessDenied: [403, "Access Denied"],
  AccessForbidden: [403, "CORSResponse: This CORS request is not allowed."],
  BadDigest: [400, "The Content-MD5 or checksum you specified did not match what we received."],
  EntityTooLarge: [400, "Your proposed upload exceeds the maximum allowed size"],
  IncompleteBody: [400, "The request body does not match its declared length or chunk format."],
  InternalError: [500, "We encountered an internal error. Please try again."],
  InvalidArgument: [400, "Invalid Argument"],
  InvalidDigest: [400, "The Content-MD5 or checksum value that you specified is not valid."],
  InvalidRange: [416, "The requested range is not satisfiable"],
  InvalidRequest: [400, "Invalid Request"],
  InvalidURI: [400, "Couldn't parse the specified URI."],
  KeyTooLongError: [400, "Your key is too long"],
  MalformedTrailerError: [400, "The request contained trailing data that was not well-formed."],
  MalformedXML: [400, "The XML you provided was not well-formed or did not validate against our published schema"],
  MaxMessageLengthExceeded: [400, "Your request was too big."],
  MethodNotAllowed: [405, "The specified method is not allowed against this resource."],
  MissingContentLength: [411, "You must provide the Content-Length HTTP header."],
  NoSuchBucket: [404, "The specified bucket does not exist"],
  NoSuchKey: [404, "The specified key does not exist."],
  NoSuchVersion: [404, "The specified version does not exist."],
  NotImplemented: [501, "A header or query you provided implies functionality that is not implemented"],
  PreconditionFailed: [412, "At least one of the pre-conditions you specified did not hold"],
  SlowDown: [503, "Please reduce your request rate."],
  SignatureDoesNotMatch: [403, "The signature of a chunk or trailer does not match what we calculated."],
  XAmzContentSHA256Mismatch: [400, "The provided 'x-amz-content-sha256' header does not match what was computed."],
} as const satisfies Record<string, readonly [status: number, message: string]>;

export type S3ErrorCode = keyof typeof defaults;

/** An error of S3; `message` replaces the default message of the code, `fields` are added to the XML. */
export class S3Error extends Error {
  readonly code: string;
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly fields: readonly XmlElement[];

  constructor(
    code: S3ErrorCode | { code: string; status: number; message: string },
    detail: { message?: string; headers?: Record<string, string>; fields?: readonly XmlElement[] } = {},
  ) {
    const [status, message] = typeof code === "string" ? defaults[code] : [code.status, code.message];
    super(detail.message ?? message);
    this.code = typeof code === "string" ? code : code.code;
    this.status = status;
    this.headers = detail.headers ?? {};
    this.fields = detail.fields ?? [];
  }
}

/** The XML body of an error answer. */
export function errorDocument(error: S3Error, requestId: string): string {
  return s3Document("Error", [
    ["Code", error.code],
    ["Message", error.message],
    ...error.fields,
    ["RequestId", requestId],
  ]);
}
