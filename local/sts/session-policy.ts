import * as z from "zod";
import { AwsError } from "../aws/service.ts";

const oneOrMany = z.union([
  z
    .string()
    .min(1)
    .transform((text) => [text]),
  z.array(z.string().min(1)).min(1),
]);

/** The supported part of the IAM policy language; a policy with anything else is refused. */
const policySchema = z.strictObject({
  Version: z.literal("2012-10-17"),
  Id: z.string().optional(),
  Statement: z.preprocess(
    (statements) => (Array.isArray(statements) ? statements : [statements]),
    z
      .array(
        z.strictObject({
          Sid: z.string().optional(),
          Effect: z.enum(["Allow", "Deny"]),
          Action: oneOrMany,
          Resource: oneOrMany,
        }),
      )
      .min(1),
  ),
});
export type SessionPolicy = z.output<typeof policySchema>;

/** Reads the Policy of AssumeRole. Throws MalformedPolicyDocument if it is invalid or not supported. */
export function readSessionPolicy(text: string): SessionPolicy {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    // JSON.parse errors quote the policy.
  }
  const parsed = policySchema.safeParse(document);
  if (parsed.success) return parsed.data;
  throw new AwsError("MalformedPolicyDocument", `The policy cannot be applied: ${z.prettifyError(parsed.error)}`);
}

/** Matches IAM wildcards: `*` is any text, `?` is one character. */
function matches(pattern: string, text: string, flags = ""): boolean {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${source}$`, `s${flags}`).test(text);
}

/** Whether the policy allows an action on a resource: at least one statement matches, and no matching one is a Deny. */
export function policyAllows(policy: SessionPolicy, action: string, resource: string): boolean {
  const matching = policy.Statement.filter(
    (statement) =>
      statement.Action.some((pattern) => matches(pattern, action, "i")) &&
      statement.Resource.some((pattern) => matches(pattern, resource)),
  );
  return matching.length > 0 && matching.every(({ Effect }) => Effect === "Allow");
}
