/** A test, by its file and the text of its title (or of the beginning of it, for one with a table). */
type Proof = readonly [file: string, title: string];

const idempotency = "test/api/faults/idempotency.test.ts";
const tokens = "test/api/organizations/me.test.ts";
const rules = "test/api/access-rules.test.ts";
const connect = "test/api/connect-tool.test.ts";

/**
 * The tests that prove the sentences of docs/api.md, by heading and by the beginning of the sentence. A heading that is
 * here must have all of its sentences; `npx node scripts/coverage-page.ts` writes docs/coverage.md from it.
 */
export const proofs: Readonly<Record<string, Readonly<Record<string, readonly Proof[]>>>> = {
  Idempotency: {
    "A POST may carry": [[idempotency, "may have 255 characters, and must not have none or 256"]],
    "The same key from the same caller": [
      [idempotency, "gives the first build again, its address signed anew"],
      [idempotency, "with another body is refused with 422, and nothing is made"],
      [idempotency, "is forgotten after its time"],
      [idempotency, "is remembered by caller and path"],
    ],
    "Validation errors and conflicts are not stored": [
      [idempotency, "of a conflict or a broken rule is not remembered"],
      [idempotency, "twenty times at once makes one key, whose secret is in one answer only"],
      [idempotency, "gives the first build again, its address signed anew"],
    ],
  },
  "Personal access tokens": {
    "A token can be limited": [[tokens, "have access to everything unless they are limited"]],
    "Its `access` is": [
      [rules, "a token for deployments creates, cancels, rebuilds and redeploys builds, and changes nothing else"],
      [rules, "a token made with access %s may read"],
      ["test/unit/lambdas/http/proof.test.ts", "a token may do to itself what its access does not allow"],
      [connect, "a code is valid for five minutes and gives a token of the access"],
    ],
    "With `organizationIds`": [[rules, "the list of organizations has only those that the token is for"]],
    "After its `expiresAt`": [[rules, "an expired token is a 401, in a read and in a write"]],
  },
};
