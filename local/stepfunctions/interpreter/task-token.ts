import { createHash, randomBytes } from "node:crypto";
import type { Archive } from "../store/archive.ts";
import type { Answer } from "../store/journal.ts";
import type { Clock } from "./clock.ts";
import { type Execution, recordNow } from "./execution.ts";

function checksum(body: string): string {
  return createHash("sha256").update(body).digest("base64url").slice(0, 8);
}

/** Creates a task token. It contains the execution's ARN, so no lookup table is needed, and a random part. */
export function issueToken(executionArn: string): string {
  const body = Buffer.from(JSON.stringify([executionArn, randomBytes(18).toString("base64url")])).toString("base64url");
  return `${body}.${checksum(body)}`;
}

/** The ARN of the execution of a token; `undefined` if the token is invalid. */
function executionOfToken(token: string): string | undefined {
  const [body = "", sum, ...rest] = token.split(".");
  if (rest.length > 0 || sum !== checksum(body)) return undefined;
  const parsed: unknown = JSON.parse(Buffer.from(body, "base64url").toString("utf8"));
  return Array.isArray(parsed) && typeof parsed[0] === "string" ? parsed[0] : undefined;
}

/** "unknown": not a valid token; "missing": its execution does not exist; "closed": used, timed out or replaced. */
export type TokenState = "accepted" | "unknown" | "missing" | "closed";

/** Answers and heartbeats of task tokens; an "accepted" one has been written to disk. */
export interface Tokens {
  answer(token: string, answer: Answer): TokenState;
  heartbeat(token: string): TokenState;
}

/** Finds the Task that waits for a token; works before `resume()` too. */
export function createTokens(clock: Clock, open: ReadonlyMap<string, Execution>, archive: Archive): Tokens {
  const awaiting = (token: string): Execution | Exclude<TokenState, "accepted"> => {
    const arn = executionOfToken(token);
    if (arn === undefined) return "unknown";
    const execution = open.get(arn);
    if (!execution) return archive.find(arn) ? "closed" : "missing";
    const { attempt } = execution.position;
    if (execution.ending || attempt?.token !== token || attempt.answer) return "closed";
    return clock.now() < (attempt.deadline ?? Number.POSITIVE_INFINITY) ? execution : "closed";
  };
  return {
    answer(token, answer) {
      const execution = awaiting(token);
      if (typeof execution === "string") return execution;
      recordNow(execution, { t: "answer", answer });
      execution.onAnswer?.();
      return "accepted";
    },
    heartbeat(token) {
      const execution = awaiting(token);
      if (typeof execution === "string") return execution;
      recordNow(execution, { t: "heartbeat", at: clock.now() });
      execution.onHeartbeat?.();
      return "accepted";
    },
  };
}
