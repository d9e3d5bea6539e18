import { createHash } from "node:crypto";
import * as z from "zod";
import { limits } from "../../../api/limits.ts";
import { tokenAccesses } from "../../../api/route.ts";
import { newConnectionCode, sameHash, secretHash } from "../../http/presented-credential.ts";
import { absent, entity } from "../../table/entity.ts";

const at = () => z.iso.datetime({ precision: 3 });

const codeSchema = () =>
  z.object({
    userId: z.string(),
    /** The console session in which the user agreed; signing out of it ends the code. */
    sessionId: z.string(),
    /** PKCE, S256: the SHA-256 of the tool's verifier in base64url. */
    challenge: z.string(),
    tool: z.string(),
    access: z.enum(tokenAccesses),
    /** Absent: all organizations of the user. */
    organizationIds: z.array(z.string()).optional(),
    expiresAt: at(),
    ttl: z.int(),
  });
export type ConnectionCodeRow = z.infer<ReturnType<typeof codeSchema>>;

/** A code with which a tool gets a token, by its hash; getting the token deletes the row in the same transaction. */
export const ConnectionCode = entity(codeSchema, (k: { codeHash: string }) => ({
  pk: `CODE#${k.codeHash}`,
  sk: "CODE",
}));

/** A new code, which is shown once, and the write that makes it valid for five minutes. */
export function newCode(agreed: Omit<ConnectionCodeRow, "expiresAt" | "ttl">, now: Date) {
  const code = newConnectionCode();
  const expires = new Date(now.getTime() + limits.connectionCodeValidSeconds * 1000);
  const expiresAt = expires.toISOString();
  const row = { ...agreed, expiresAt, ttl: Math.ceil(expires.getTime() / 1000) };
  return { code, expiresAt, write: ConnectionCode.put({ codeHash: secretHash(code) }, row, { pk: absent }) };
}

/** The form of a PKCE verifier (RFC 7636); other texts are refused even if their hash matches. */
const verifierForm = /^[A-Za-z0-9\-._~]{43,128}$/;

/** Whether the tool that presents the verifier is the one that the code was made for. */
export function isVerifiedBy(verifier: string, { challenge }: ConnectionCodeRow): boolean {
  const hash = createHash("sha256").update(verifier).digest("base64url");
  return verifierForm.test(verifier) && sameHash(hash, challenge);
}
