import * as z from "zod";
import { newSignInCode, secretHash } from "../../http/presented-credential.ts";
import { absent, entity, type Put } from "../../table/entity.ts";

const at = () => z.iso.datetime({ precision: 3 });

const linkSchema = () =>
  z.object({
    userId: z.string(),
    /** The organization that invited the user; absent in links that the operator made. */
    organizationId: z.string().optional(),
    createdAt: at(),
    expiresAt: at(),
    ttl: z.int(),
  });
export type SignInLinkRow = z.infer<ReturnType<typeof linkSchema>>;

/** A one-time sign-in link by the hash of its code; signing in with it deletes the row in the same transaction. */
export const SignInLink = entity(linkSchema, (k: { codeHash: string }) => ({ pk: `LINK#${k.codeHash}`, sk: "LINK" }));

/** A new link for a user: its row to write, and its address below the service's, which is shown once and stored nowhere. */
export function newSignInLink(
  link: { userId: string; organizationId?: string; validSeconds: number; consoleAddress: string },
  now: Date,
): { write: Put<SignInLinkRow>; codeHash: string; url: string; expiresAt: string } {
  const { userId, organizationId, validSeconds, consoleAddress } = link;
  const code = newSignInCode();
  const codeHash = secretHash(code);
  const expires = new Date(now.getTime() + validSeconds * 1000);
  const expiresAt = expires.toISOString();
  const ttl = Math.ceil(expires.getTime() / 1000);
  const row = { userId, ...(organizationId && { organizationId }), createdAt: now.toISOString(), expiresAt, ttl };
  return {
    write: SignInLink.put({ codeHash }, row, { pk: absent }),
    codeHash,
    url: `${consoleAddress}/sign-in#code=${code}`,
    expiresAt,
  };
}
