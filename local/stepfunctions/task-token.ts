import { createHash, randomBytes } from "node:crypto";

function checksum(body: string): string {
  return createHash("sha256").update(body).digest("base64url").slice(0, 8);
}

/** A task token: it names its execution, cannot be guessed, and needs no table to be found again after a restart. */
export function issueToken(executionArn: string): string {
  const body = Buffer.from(JSON.stringify([executionArn, randomBytes(18).toString("base64url")])).toString("base64url");
  return `${body}.${checksum(body)}`;
}

/** The execution that a token belongs to; `undefined` for what was never a token of ours. */
export function executionOfToken(token: string): string | undefined {
  const [body = "", sum, ...rest] = token.split(".");
  if (rest.length > 0 || sum !== checksum(body)) return undefined;
  const parsed: unknown = JSON.parse(Buffer.from(body, "base64url").toString("utf8"));
  return Array.isArray(parsed) && typeof parsed[0] === "string" ? parsed[0] : undefined;
}
