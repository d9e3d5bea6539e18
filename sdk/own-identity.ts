import * as z from "zod";
import { createSession } from "../api/sessions.ts";
import { SlipwayError } from "./errors.ts";
import type { TaskCredentials } from "./identity-proof.ts";

const containerCredentials = z.object({ AccessKeyId: z.string(), SecretAccessKey: z.string(), Token: z.string() });

/** A session is renewed this long before it ends. */
const renewSecondsBefore = 60;

const timeoutSeconds = 10;

function noIdentity(message: string, status?: number): SlipwayError {
  return new SlipwayError("no_identity", message, { status });
}

/** The credentials of the task's own role, from the endpoint that ECS gives every container. */
async function taskCredentials(environment: NodeJS.ProcessEnv): Promise<TaskCredentials> {
  const { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: relative, AWS_CONTAINER_CREDENTIALS_FULL_URI: full } = environment;
  const url = relative ? `http://169.254.170.2${relative}` : full;
  if (!url) throw noIdentity("This process is not an app that Slipway deployed: give createClient a key or a token.");
  const authorization = environment.AWS_CONTAINER_AUTHORIZATION_TOKEN;
  const response = await fetch(url, {
    ...(authorization && { headers: { authorization } }),
    signal: AbortSignal.timeout(timeoutSeconds * 1000),
  });
  if (!response.ok) throw noIdentity(`The task's credentials could not be read: status ${response.status}.`);
  const found = containerCredentials.safeParse(await response.json().catch(() => undefined));
  if (!found.success) throw noIdentity("The task's credentials could not be read: the answer has an unexpected form.");
  const { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, Token: sessionToken } = found.data;
  return { accessKeyId, secretAccessKey, sessionToken };
}

/**
 * Authorizes the calls of a deployed app without a key: proves the task's identity to the service, keeps the session that it
 * gets for ten minutes, and renews it before it expires. Calls made during a renewal share it.
 */
export function ownIdentity(baseUrl: string, environment: NodeJS.ProcessEnv): () => Promise<string> {
  let session: { authorization: string; renewAt: number } | undefined;
  let renewing: Promise<string> | undefined;

  async function renew(): Promise<string> {
    // Loaded here, because a client with a key never needs the signer.
    const { signIdentityProof } = await import("./identity-proof.ts");
    const proof = await signIdentityProof(await taskCredentials(environment), new URL(baseUrl).host, environment);
    const response = await fetch(`${baseUrl}/sessions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ proof }),
      redirect: "manual",
      signal: AbortSignal.timeout(timeoutSeconds * 1000),
    });
    const { status } = response;
    if (status !== 201) throw noIdentity(`The service did not accept this app's identity: status ${status}.`, status);
    const answer = createSession.definition.reply.safeParse(await response.json().catch(() => undefined));
    if (!answer.success) throw noIdentity("The service's answer contains no session.", status);
    const { token, expiresAt } = answer.data.session;
    session = { authorization: `Bearer ${token}`, renewAt: Date.parse(expiresAt) - renewSecondsBefore * 1000 };
    return session.authorization;
  }

  return async () => {
    if (session && Date.now() < session.renewAt) return session.authorization;
    renewing ??= renew().finally(() => {
      renewing = undefined;
    });
    return renewing;
  };
}
