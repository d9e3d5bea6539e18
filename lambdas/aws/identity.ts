import { type IdentityProof, provedTask, replayable } from "./identity-proof.ts";
import { post } from "./post.ts";
import { ownRegion } from "./signature.ts";

export interface IdentityProver {
  /** The id of the app task that made this proof; `undefined` when it proves nothing. */
  task(proof: IdentityProof): Promise<string | undefined>;
}

export function identityProver(environment: { APP_TASK_ROLE: string; SERVICE_HOST: string }): IdentityProver {
  const local = process.env.AWS_ENDPOINT_URL_STS;
  const stsOrigins = local
    ? [new URL(local).origin]
    : [`https://sts.${ownRegion()}.amazonaws.com`, "https://sts.amazonaws.com"];
  return {
    async task(proof) {
      const headers = replayable(proof, { host: environment.SERVICE_HOST, stsOrigins });
      if (!headers) return undefined;
      const answer = await post(new URL(proof.url), headers, proof.body);
      if (answer.status >= 500) throw Object.assign(new Error("STS could not judge the proof"), { $fault: "server" });
      return answer.status === 200 ? provedTask(answer.body, environment.APP_TASK_ROLE) : undefined;
    },
  };
}
