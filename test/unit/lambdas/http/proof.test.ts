import { describe, expect, test } from "vitest";
import type { PresentedCredential } from "../../../../lambdas/http/presented-credential.ts";
import {
  isPlausible,
  type ProofRequest,
  type ProofRows,
  proofChecks,
  proofPlaces,
  proveCaller,
  proveProject,
  refusalOf,
} from "../../../../lambdas/http/proof.ts";
import { newId } from "../../../../lambdas/table/ids.ts";

const now = new Date("2026-11-20T01:02:03.456Z");
const at = now.toISOString();
const later = new Date(now.getTime() + 1).toISOString();
const [orgId, otherOrg, projectId, userId, tokenId] = (["org", "org", "prj", "usr", "tok"] as const).map((prefix) =>
  newId(prefix, now),
) as [string, string, string, string, string];

const key: PresentedCredential = { kind: "key", access: "slk_access", organizationId: orgId, hash: "hash" };
const session: PresentedCredential = { kind: "session", sessionId: "id", organizationId: orgId, hash: "hash" };
const token: PresentedCredential = { kind: "token", userId, tokenId, hash: "hash" };
const everyKind = [
  ["key", key],
  ["session", session],
  ["token", token],
] as const;

const keyRow = {
  access: "slk_access",
  hash: "hash",
  organizationId: orgId,
  projectId,
  credentialId: 1,
  manual: true,
  description: "",
  createdAt: at,
};
const sessionRow = { organizationId: orgId, hash: "hash", expiresAt: later, ttl: 1 };
const tokenRow = { id: tokenId, userId, hash: "hash", description: "", createdAt: at };
const membership = { userId, organizationId: orgId, organizationName: "Own", role: "owner" as const };
const project = { id: projectId, organizationId: orgId, name: "App", secret: "secret", createdAt: at };
const managers = [
  { id: newId("usr", now), name: "Mara", email: "mara@example.com" },
  { id: newId("usr", now), name: "Max", email: "max@example.com" },
];

const none: ProofRows = {
  "proof:key": undefined,
  "proof:session": undefined,
  "proof:token": undefined,
  "proof:membership": undefined,
  "proof:project": undefined,
};
const good: Record<PresentedCredential["kind"], ProofRows> = {
  key: { ...none, "proof:key": keyRow },
  session: { ...none, "proof:session": sessionRow },
  token: { ...none, "proof:token": tokenRow, "proof:membership": membership },
};
const asks = (credential: PresentedCredential, more: Partial<ProofRequest> = {}): ProofRequest => ({
  credential,
  orgId,
  managed: false,
  now,
  ...more,
});
const refused = (work: () => void) => {
  try {
    work();
  } catch (error) {
    return (error as { code: string }).code;
  }
  return undefined;
};
const defined = <T>(named: Record<string, T | undefined>): Record<string, T> =>
  Object.fromEntries(Object.entries(named).flatMap(([name, one]) => (one === undefined ? [] : [[name, one]])));

describe("the rows that prove a request", () => {
  const keysOf = (request: ProofRequest) =>
    Object.values(defined<{ key: { pk: string; sk: string } }>(proofPlaces(request))).map(({ key }) => key);

  test("are the credential's own, the user's membership and the project", () => {
    const inProject = { pk: `PRJ#${projectId}`, sk: "PRJ" };
    expect(keysOf(asks(key, { projectId }))).toEqual([{ pk: "KEY#slk_access", sk: "KEY" }, inProject]);
    expect(keysOf(asks(session, { projectId }))).toEqual([{ pk: "SES#id", sk: "SES" }, inProject]);
    expect(keysOf(asks(token, { projectId }))).toEqual([
      { pk: `USR#${userId}`, sk: `TOK#${tokenId}` },
      { pk: `USR#${userId}`, sk: `MEM#${orgId}` },
      inProject,
    ]);
  });

  test.each([undefined, "org_x", projectId])("are no membership where the path has the organization %s", (id) => {
    expect(proofPlaces(asks(token, { orgId: id }))["proof:membership"]).toBeUndefined();
  });

  test.each([undefined, "prj_x", orgId])("are no project where the path has the project %s", (id) => {
    expect(proofPlaces(asks(key, { projectId: id }))["proof:project"]).toBeUndefined();
  });
});

describe.each(everyKind)("a %s", (kind, credential) => {
  const rows = good[kind];
  const row = `proof:${kind}`;

  test("is good with its own row, with and without an organization in the path", () => {
    expect(refused(() => proveCaller(asks(credential), rows))).toBeUndefined();
    expect(refused(() => proveCaller(asks(credential, { orgId: undefined }), rows))).toBeUndefined();
  });

  test("is a 401 without its row, or with another secret's, wherever it asks", () => {
    for (const more of [{}, { orgId: undefined }, { orgId: otherOrg }]) {
      expect(refused(() => proveCaller(asks(credential, more), { ...rows, [row]: undefined }))).toBe("unauthorized");
      const changed = { ...rows, [row]: { ...good[kind][row as "proof:key"], hash: "other" } };
      expect(refused(() => proveCaller(asks(credential, more), changed))).toBe("unauthorized");
    }
  });

  test("is a condition of a write: its row with this secret's hash", () => {
    const checks = defined(proofChecks(asks(credential, { projectId })));
    expect(Object.keys(checks)).toEqual([row, ...(kind === "token" ? ["proof:membership"] : []), "proof:project"]);
    expect(checks[row]).toMatchObject({
      kind: "check",
      key: proofPlaces(asks(credential))[row as "proof:key"]?.key,
      when: { hash: "hash", ...(kind === "session" && { expiresAt: { is: "above", value: at } }) },
    });
    expect(checks["proof:project"]).toMatchObject({
      key: { pk: `PRJ#${projectId}`, sk: "PRJ" },
      when: { organizationId: orgId },
    });
    if (kind === "token")
      expect(checks["proof:membership"]).toMatchObject({
        key: { pk: `USR#${userId}`, sk: `MEM#${orgId}` },
        when: { organizationId: orgId },
      });
  });

  test("is no condition of what the path does not name", () => {
    expect(Object.keys(defined(proofChecks(asks(credential, { orgId: undefined }))))).toEqual([row]);
    expect(Object.keys(defined(proofChecks(asks(credential, { orgId: undefined, projectId }))))).toEqual([row]);
    expect(proofChecks(asks(credential))["proof:project"]).toBeUndefined();
  });
});

test("a session ends at its instant, not after it", () => {
  const until = (expiresAt: string) => ({ ...none, "proof:session": { ...sessionRow, expiresAt } });
  expect(refused(() => proveCaller(asks(session), until(at)))).toBe("unauthorized");
  expect(refused(() => proveCaller(asks(session), until(later)))).toBeUndefined();
});

test("another organization is a 404: for a key and a session by their own row, for a user by the membership", () => {
  expect(refused(() => proveCaller(asks(key, { orgId: otherOrg }), good.key))).toBe("not_found");
  expect(refused(() => proveCaller(asks(session, { orgId: otherOrg }), good.session))).toBe("not_found");
  expect(refused(() => proveCaller(asks(token), { ...good.token, "proof:membership": undefined }))).toBe("not_found");
});

describe("a project in the path", () => {
  const prove = (credential: PresentedCredential, row: object | undefined, more: Partial<ProofRequest> = {}) =>
    refused(() =>
      proveProject(asks(credential, { projectId, ...more }), {
        ...none,
        "proof:project": row && { ...project, ...row },
      }),
    );

  test("must exist and be the organization's", () => {
    expect(prove(key, {})).toBeUndefined();
    expect(prove(key, undefined)).toBe("not_found");
    expect(prove(key, { organizationId: otherOrg })).toBe("not_found");
    expect(prove(key, undefined, { projectId: undefined })).toBeUndefined();
  });

  test("that only its managers may change refuses every other user, and no key or session", () => {
    const restricted = { managerIds: managers.map(({ id }) => id), managers };
    const managed = true;
    expect(prove(token, restricted, { managed })).toBe("not_a_manager");
    expect(prove(token, restricted)).toBeUndefined();
    expect(prove(token, { managerIds: [userId] }, { managed })).toBeUndefined();
    expect(prove(token, {}, { managed })).toBeUndefined();
    expect(prove(key, restricted, { managed })).toBeUndefined();
    expect(prove(session, restricted, { managed })).toBeUndefined();
  });

  test("is a condition of a write by a user, where managers are asked for", () => {
    const conditionOf = (credential: PresentedCredential, managed: boolean) =>
      proofChecks(asks(credential, { projectId, managed }))["proof:project"]?.when;
    const open = { organizationId: orgId };
    expect(conditionOf(token, true)).toEqual({ ...open, managerIds: { is: "absentOrContains", value: userId } });
    for (const [credential, managed] of [
      [token, false],
      [key, true],
      [session, true],
    ] as const)
      expect(conditionOf(credential, managed)).toEqual(open);
  });
});

describe("a write that its proof refuses", () => {
  const failed = { old: undefined };
  const meaning = (checks: object) => refusalOf(checks, asks(token, { projectId }));

  test.each([
    ["proof:key", "unauthorized"],
    ["proof:session", "unauthorized"],
    ["proof:token", "unauthorized"],
    ["proof:membership", "not_found"],
    ["proof:project", "not_found"],
  ])("is by %s alone %s", (check, code) => {
    expect(meaning({ [check]: failed })?.code).toBe(code);
  });

  test("is judged in the order 401, 404, 403", () => {
    const restricted = { old: { ...project, managerIds: [], managers: [] } };
    expect(meaning({ "proof:token": failed, "proof:membership": failed, "proof:project": restricted })?.code).toBe(
      "unauthorized",
    );
    expect(meaning({ "proof:membership": failed, "proof:project": restricted })?.code).toBe("not_found");
    expect(meaning({ "proof:project": restricted })?.code).toBe("not_a_manager");
    expect(meaning({ "proof:project": { old: { ...project, organizationId: otherOrg } } })?.code).toBe("not_found");
    expect(meaning({})).toBeUndefined();
  });

  test("names the managers, or says that there are none", () => {
    const named = meaning({ "proof:project": { old: { ...project, managerIds: [], managers } } });
    expect(named?.message).toBe("Only the managing members of this project can do this: Mara, Max.");
    expect(named?.fields).toEqual({ managers });
    for (const list of [{}, { managers: [] }]) {
      const nobody = meaning({ "proof:project": { old: { ...project, managerIds: [], ...list } } });
      expect(nobody?.message).toBe("This project has no managing members, so only API keys can do this.");
      expect(nobody?.fields).toEqual({ managers: [] });
    }
  });
});

test.each<[string, PresentedCredential, Partial<ProofRequest>, boolean]>([
  ["a key in its own organization", key, {}, true],
  ["a key and a project", key, { projectId }, true],
  ["a key without an organization in the path", key, { orgId: undefined }, true],
  ["a key in another organization", key, { orgId: otherOrg }, false],
  ["a session in another organization", session, { orgId: otherOrg }, false],
  ["a token in any organization", token, { orgId: otherOrg }, true],
  ["a token where the organization is none", token, { orgId: "org_x" }, false],
  ["a token where the project is none", token, { projectId: "prj_x" }, false],
  ["a token where the project is an organization", token, { projectId: orgId }, false],
])("%s: only a plausible request begins with its write", (_, credential, more, plausible) => {
  expect(isPlausible(asks(credential, more))).toBe(plausible);
});
