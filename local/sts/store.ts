import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { log } from "../../lambdas/http/log.ts";
import type { Keys } from "../aws/signature/verify.ts";
import { DamagedFile, readStateFile, writeStateFile } from "../state-file.ts";
import { policyAllows, type SessionPolicy } from "./session-policy.ts";

/** The account of all local resources. */
export const localAccount = "000000000000";

/** The principal of the service's root key. */
export const localRootArn = `arn:aws:iam::${localAccount}:root`;

/** The maximum of STS; a revocation must be kept for at least this time. */
export const sessionSecondsMax = 43_200;

export interface TemporaryCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string;
  expiration: Date;
}

export interface SessionRequest {
  roleArn: string;
  sessionName: string;
  durationSeconds: number;
  /** The session policy of AssumeRole. */
  policy?: SessionPolicy;
}

export interface CredentialStore extends Keys {
  /** The root key of the service, which stays the same after a restart. */
  root: { accessKeyId: string; secretAccessKey: string };
  /** Issues session credentials without writing to disk. Throws RangeError above `sessionSecondsMax`. */
  issue(request: SessionRequest): TemporaryCredentials;
  /** Revokes all sessions with this name that were issued until now. */
  revoke(sessionName: string): void;
}

const fileSchema = z.object({
  root: z.object({ accessKeyId: z.string(), secretAccessKey: z.string() }),
  sessionKey: z.string(),
  revoked: z.record(z.string(), z.number()),
});
type StoreFile = z.infer<typeof fileSchema>;

const claimsSchema = z.object({
  key: z.string(),
  role: z.string(),
  session: z.string(),
  issuedAt: z.number(),
  expiresAt: z.number(),
  policy: z.custom<SessionPolicy>().optional(),
});

const keyLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const newKeyId = (prefix: "AKIA" | "ASIA") =>
  prefix + Array.from(randomBytes(16), (byte) => keyLetters[byte % keyLetters.length]).join("");

function newFile(): StoreFile {
  return {
    root: { accessKeyId: newKeyId("AKIA"), secretAccessKey: randomBytes(30).toString("base64") },
    sessionKey: randomBytes(32).toString("base64"),
    revoked: {},
  };
}

/** Creates new keys if the file is damaged; this only invalidates issued sessions and presigned addresses. */
function readOrRenew(path: string): StoreFile {
  try {
    return readStateFile(path, fileSchema, "") ?? newFile();
  } catch (error) {
    if (!(error instanceof DamagedFile)) throw error;
    log("error", "The file of the service's root key was damaged; a new key was created", { path });
    return newFile();
  }
}

/** The role's name in `arn:aws:iam::…:role/path/name`. */
export function roleName(roleArn: string): string {
  return roleArn.slice(roleArn.lastIndexOf("/") + 1);
}

/**
 * The keys of the local account, in `dir/credentials.json` (mode 0600). A session token contains its own signed claims,
 * so sessions stay valid after a SIGKILL and are not written to disk.
 */
export function openCredentials(options: { dir: string; now?: () => Date }): CredentialStore {
  const now = options.now ?? (() => new Date());
  mkdirSync(options.dir, { recursive: true, mode: 0o700 });
  const path = join(options.dir, "credentials.json");
  const file = readOrRenew(path);
  writeStateFile(path, file);

  const revokedAt = new Map(Object.entries(file.revoked));
  const mac = (use: string, text: string | Buffer) =>
    createHmac("sha256", Buffer.from(file.sessionKey, "base64")).update(`${use}\0`).update(text).digest();
  const secretOf = (accessKeyId: string) => mac("secret", accessKeyId).subarray(0, 30).toString("base64");

  const readToken = (accessKeyId: string, token: string) => {
    const bytes = Buffer.from(token, "base64");
    const claims = bytes.subarray(32);
    if (bytes.length < 33 || bytes.toString("base64") !== token) return undefined;
    if (!timingSafeEqual(bytes.subarray(0, 32), mac("token", claims))) return undefined;
    const session = claimsSchema.parse(JSON.parse(claims.toString("utf8")));
    return session.key === accessKeyId ? session : undefined;
  };

  return {
    // A copy, because the SDK adds properties to the credentials that it is given.
    get root() {
      return { ...file.root };
    },
    issue({ roleArn, sessionName, durationSeconds, policy }) {
      if (durationSeconds > sessionSecondsMax) throw new RangeError(`A session lasts ${sessionSecondsMax} s at most`);
      const accessKeyId = newKeyId("ASIA");
      const issuedAt = now().getTime();
      const expiresAt = issuedAt + durationSeconds * 1000;
      const claims = { key: accessKeyId, role: roleName(roleArn), session: sessionName, issuedAt, expiresAt, policy };
      const body = Buffer.from(JSON.stringify(claims));
      const sessionToken = Buffer.concat([mac("token", body), body]).toString("base64");
      return { accessKeyId, secretAccessKey: secretOf(accessKeyId), sessionToken, expiration: new Date(expiresAt) };
    },
    find(accessKeyId, sessionToken) {
      if (sessionToken === undefined) {
        const { root } = file;
        if (accessKeyId !== root.accessKeyId) return undefined;
        return { secretAccessKey: root.secretAccessKey, principalArn: localRootArn };
      }
      const session = readToken(accessKeyId, sessionToken);
      if (!session || session.issuedAt <= (revokedAt.get(session.session) ?? -1)) return undefined;
      return {
        secretAccessKey: secretOf(accessKeyId),
        sessionToken,
        principalArn: `arn:aws:sts::${localAccount}:assumed-role/${session.role}/${session.session}`,
        expiresAt: new Date(session.expiresAt),
        ...(session.policy && { allows: policyAllows.bind(undefined, session.policy) }),
      };
    },
    revoke(sessionName) {
      const oldestSession = now().getTime() - sessionSecondsMax * 1000;
      for (const [name, at] of revokedAt) if (at < oldestSession) revokedAt.delete(name);
      revokedAt.set(sessionName, now().getTime());
      writeStateFile(path, { ...file, revoked: Object.fromEntries(revokedAt) });
    },
  };
}
