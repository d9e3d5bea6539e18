import { describe, expect, test } from "vitest";
import { roles } from "../../../../api/role.ts";
import { tokenAccesses } from "../../../../api/route.ts";
import type { PresentedCredential } from "../../../../lambdas/http/presented-credential.ts";
import { Problem } from "../../../../lambdas/http/problem.ts";
import {
  type CallerRule,
  callerOf,
  isPlausible,
  laterChecks,
  type ProofRequest,
  type ProofRows,
  proofChecks,
  proofPlaces,
  proveCaller,
  provePermission,
  proveProject,
  ruleOf,
} from "../../../../lambdas/http/proof.ts";
import { newId } from "../../../../lambdas/table/ids.ts";

const now = new Date("2026-11-20T01:02:03.456Z");
const at = now.toISOString();
const later = new Date(now.getTime() + 1).toISOString();
const [orgId, otherOrg, projectId, userId, tokenId] = (["org", "org", "prj", "usr", "tok"] as const).map((prefix) =>
  newId(prefix, now),
) as [string, string, string, string, string];

const key: PresentedCredential = { kind: "key", access: "slk_access", organizationId: orgId, hash: "hash" };
const session: PresentedCredential = {
  kind: "session",
  origin: { access: "slk_1" },
  sessionId: "id",
  organizationId: orgId,
  hash: "hash",
};
const token: PresentedCredential = { kind: "token", userId, tokenId, hash: "hash" };
const signedIn: PresentedCredential = { kind: "console", userId, sessionId: "id", bearerId: "id", hash: "hash" };
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
const project = { id: projectId, organizationId: orgId, name: "App", secret: "secret", version: 2, createdAt: at };
const managers = [
  { id: newId("usr", now), name: "Mara", email: "mara@example.com" },
  { id: newId("usr", now), name: "Max", email: "max@example.com" },
];

const none: ProofRows = {
  "proof:key": undefined,
  "proof:session": undefined,
  "proof:token": undefined,
  "proof:console": undefined,
  "proof:bearer": undefined,
  "proof:membership": undefined,
  "proof:project": undefined,
};
const good: Record<PresentedCredential["kind"], ProofRows> = {
  key: { ...none, "proof:key": keyRow },
  session: { ...none, "proof:session": sessionRow },
  token: { ...none, "proof:token": tokenRow, "proof:membership": membership },
  console: {
    ...none,
    "proof:console": { id: "id", userId, hash: "cookie", createdAt: at, lastUsedAt: at, expiresAt: later, ttl: 1 },
    "proof:bearer": { hash: "hash", expiresAt: later, ttl: 1 },
    "proof:membership": membership,
  },
};
const openRule: CallerRule = {
  usersOnly: false,
  consoleOnly: false,
  ownToken: false,
  tokens: tokenAccesses,
  role: "member",
  orSelf: false,
  managed: false,
};
const asks = (
  credential: PresentedCredential,
  { rule, ...more }: Partial<Omit<ProofRequest, "rule">> & { rule?: Partial<CallerRule> } = {},
): ProofRequest => ({ credential, orgId, rule: { ...openRule, ...rule }, now, ...more });
type Asked = NonNullable<Parameters<typeof asks>[1]>;
const refused = (work: () => void) => {
  try {
    work();
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
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
    expect(keysOf(asks(signedIn, { projectId }))).toEqual([
      { pk: `USR#${userId}`, sk: "CON#id" },
      { pk: `USR#${userId}`, sk: "BEA#id#id" },
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

describe("a bearer of the console", () => {
  const { console: rows } = good;
  const prove = (more: Partial<ProofRows>) => refused(() => proveCaller(asks(signedIn), { ...rows, ...more }));
  const session = rows["proof:console"];

  test("is good with its own row, its session's and the user's membership", () => {
    expect(prove({})).toBeUndefined();
    expect(prove({ "proof:membership": undefined })).toBe("not_found");
    expect(refused(() => provePermission(asks(signedIn, { rule: { usersOnly: true } }), rows))).toBeUndefined();
  });

  test("is good no longer once its session is gone, or either has ended", () => {
    expect(prove({ "proof:console": undefined })).toBe("unauthorized");
    expect(prove({ "proof:console": session && { ...session, expiresAt: at } })).toBe("unauthorized");
    expect(prove({ "proof:bearer": undefined })).toBe("unauthorized");
    expect(prove({ "proof:bearer": { hash: "hash", expiresAt: at, ttl: 1 } })).toBe("unauthorized");
    expect(prove({ "proof:bearer": { hash: "cookie", expiresAt: later, ttl: 1 } })).toBe("unauthorized");
  });

  test("is proved by the same rows as conditions", () => {
    const checks = proofChecks(asks(signedIn));
    const above = { is: "above", value: at };
    expect(checks["proof:console"]).toMatchObject({ key: { sk: "CON#id" }, when: { expiresAt: above } });
    expect(checks["proof:bearer"]).toMatchObject({
      key: { sk: "BEA#id#id" },
      when: { hash: "hash", expiresAt: above },
    });
    expect(checks["proof:membership"]).toBeDefined();
  });
});

test("a session and a token end at their instant, not after it", () => {
  const session_ = (expiresAt: string) => ({ ...none, "proof:session": { ...sessionRow, expiresAt } });
  const token_ = (expiresAt: string) => ({ ...good.token, "proof:token": { ...tokenRow, expiresAt } });
  for (const [credential, until] of [
    [session, session_],
    [token, token_],
  ] as const) {
    expect(refused(() => proveCaller(asks(credential), until(at)))).toBe("unauthorized");
    expect(refused(() => proveCaller(asks(credential), until(later)))).toBeUndefined();
  }
});

test("a token for named organizations is good in these only", () => {
  const rows = (organizationIds: string[]) => ({ ...good.token, "proof:token": { ...tokenRow, organizationIds } });
  expect(refused(() => proveCaller(asks(token), rows([otherOrg, orgId])))).toBeUndefined();
  expect(refused(() => proveCaller(asks(token), rows([otherOrg])))).toBe("not_found");
  expect(refused(() => proveCaller(asks(token, { orgId: undefined }), rows([otherOrg])))).toBeUndefined();
});

test("another organization is a 404: for a key and a session by their own row, for a user by the membership", () => {
  expect(refused(() => proveCaller(asks(key, { orgId: otherOrg }), good.key))).toBe("not_found");
  expect(refused(() => proveCaller(asks(session, { orgId: otherOrg }), good.session))).toBe("not_found");
  expect(refused(() => proveCaller(asks(token), { ...good.token, "proof:membership": undefined }))).toBe("not_found");
});

test("the rule of a route is what it declares", () => {
  const rule = (method: "GET" | "POST", definition: object) =>
    ruleOf({ method, definition: { uses: [], errors: [], ...definition } } as unknown as Parameters<typeof ruleOf>[0]);
  expect(rule("GET", {})).toEqual(openRule);
  expect(rule("POST", {})).toEqual({ ...openRule, tokens: ["all"] });
  expect(rule("POST", { tokens: "deploy", errors: ["not_a_manager"] })).toEqual({
    ...openRule,
    tokens: ["deploy", "all"],
    managed: true,
  });
  expect(rule("GET", { callers: "users", role: "owner", orSelf: true })).toEqual({
    ...openRule,
    usersOnly: true,
    role: "owner",
    orSelf: true,
  });
  expect(rule("POST", { callers: "users", errors: ["sign_in_needed"] })).toEqual({
    ...openRule,
    tokens: ["all"],
    usersOnly: true,
    consoleOnly: true,
  });
  expect(rule("GET", { callers: "all", errors: ["not_found"] })).toEqual(openRule);
  expect(rule("POST", { ownToken: true })).toEqual({ ...openRule, tokens: ["all"], ownToken: true });
});

test("a project in the path must exist and be the organization's", () => {
  const prove = (row: object | undefined, more: Asked = { projectId }) =>
    refused(() => proveProject(asks(key, more), { ...none, "proof:project": row && { ...project, ...row } }));
  expect(prove({})).toBeUndefined();
  expect(prove(undefined)).toBe("not_found");
  expect(prove({ organizationId: otherOrg })).toBe("not_found");
  expect(prove(undefined, {})).toBeUndefined();
});

describe("permission", () => {
  test("a token may do to itself what its access does not allow, and to no other", () => {
    const bounded = { "proof:token": { ...tokenRow, access: "read" as const } };
    const rule = { tokens: ["all"] as const, ownToken: true };
    const own = token.kind === "token" ? token.tokenId : "";
    expect(permit(token, { rule, tokenId: own }, bounded)).toBeUndefined();
    expect(permit(token, { rule, tokenId: "tok_other" }, bounded)).toBe("token_scope");
    expect(permit(token, { rule: { ...rule, ownToken: false }, tokenId: own }, bounded)).toBe("token_scope");
  });

  test("for the console only: a token is refused, after its scope was checked", () => {
    const rule = { usersOnly: true, consoleOnly: true };
    expect(permit(token, { rule })).toBe("sign_in_needed");
    expect(permit(key, { rule })).toBe("users_only");
    expect(permit(signedIn, { rule })).toBeUndefined();
  });

  const permit = (credential: PresentedCredential, more: Asked, rows: object = {}) =>
    refused(() => provePermission(asks(credential, more), { ...good[credential.kind], ...rows }));
  const withRole = (role: (typeof roles)[number]) => ({ "proof:membership": { ...membership, role } });

  test.each(everyKind)("for users only: a %s", (kind, credential) => {
    expect(permit(credential, { rule: { usersOnly: true } })).toBe(kind === "token" ? undefined : "users_only");
    expect(permit(credential, {})).toBeUndefined();
  });

  test.each(tokenAccesses)("a token that was made for %s, or for everything without a word", (access) => {
    const row = { "proof:token": { ...tokenRow, access } };
    for (const asked of tokenAccesses) {
      expect(permit(token, { rule: { tokens: [asked] } }, row)).toBe(access === asked ? undefined : "token_scope");
    }
    expect(permit(token, { rule: { tokens: ["all"] } })).toBeUndefined();
    expect(permit(token, { rule: { tokens: ["read"] } })).toBe("token_scope");
    expect(permit(key, { rule: { tokens: ["read"] } })).toBeUndefined();
  });

  test.each([
    ["member", ["member", "admin", "owner"]],
    ["admin", ["admin", "owner"]],
    ["owner", ["owner"]],
  ] as const)("of the role %s", (role, enough) => {
    for (const own of roles) {
      const allowed = (enough as readonly string[]).includes(own);
      expect(permit(token, { rule: { role } }, withRole(own))).toBe(allowed ? undefined : "forbidden");
    }
    expect(permit(token, { rule: { role } }, { "proof:membership": undefined })).toBeUndefined();
    expect(permit(key, { rule: { role } })).toBeUndefined();
  });

  test("of a role is not needed for what members may do to themselves", () => {
    const owners = { role: "owner", orSelf: true } as const;
    expect(permit(token, { rule: owners, userId }, withRole("member"))).toBeUndefined();
    expect(permit(token, { rule: owners, userId: newId("usr", now) }, withRole("member"))).toBe("forbidden");
    expect(permit(token, { rule: { role: "owner" }, userId }, withRole("member"))).toBe("forbidden");
  });

  test("where only the managers may: every other user is refused, and no key or session", () => {
    const listed = (managerIds?: string[]) => ({ "proof:project": { ...project, managerIds } });
    const rule = { managed: true };
    expect(permit(token, { rule }, listed(managers.map(({ id }) => id)))).toBe("not_a_manager");
    expect(permit(token, {}, listed([]))).toBeUndefined();
    expect(permit(token, { rule }, listed([userId]))).toBeUndefined();
    expect(permit(token, { rule }, listed())).toBeUndefined();
    expect(permit(token, { rule })).toBeUndefined();
    expect(permit(key, { rule }, listed([]))).toBeUndefined();
    expect(permit(session, { rule }, listed([]))).toBeUndefined();
  });

  test("refused says what would be enough, and who may", () => {
    const problem = (more: Asked, rows: object = {}): Problem => {
      try {
        provePermission(asks(token, more), { ...good.token, ...withRole("member"), ...rows });
      } catch (error) {
        if (error instanceof Problem) return error;
      }
      throw new Error("It was permitted");
    };
    expect(problem({ rule: { role: "admin" } })).toMatchObject({
      message: "Only admins and owners of the organization can do this.",
      fields: { requiredRole: "admin" },
    });
    expect(problem({ rule: { role: "owner" } })).toMatchObject({
      message: "Only owners of the organization can do this.",
      fields: { requiredRole: "owner" },
    });
    expect(problem({ rule: { tokens: ["read", "deploy"] } }).message).toContain("access read or deploy.");
    expect(() => provePermission(asks(key, { rule: { usersOnly: true } }), good.key)).toThrow(
      "Only a user can do this: use a personal access token instead of a key.",
    );
    expect(problem({ rule: { consoleOnly: true } }).message).toBe(
      "Only a user who is signed in to the console can do this.",
    );
    const restricted = (list: object) => ({ "proof:project": { ...project, managerIds: [], ...list } });
    expect(problem({ rule: { managed: true } }, restricted({ managers }))).toMatchObject({
      message: "Only the managing members of this project can do this: Mara, Max.",
      fields: { managers },
    });
    for (const list of [{}, { managers: [] }])
      expect(problem({ rule: { managed: true } }, restricted(list))).toMatchObject({
        message: "This project has no managing members, so only API keys can do this.",
        fields: { managers: [] },
      });
  });
});

describe("the conditions of a write", () => {
  const checks = (credential: PresentedCredential, more: Asked = {}) => proofChecks(asks(credential, more));

  test("ask for the managers' list where a user must be on it", () => {
    const when = (credential: PresentedCredential, managed: boolean) =>
      checks(credential, { projectId, rule: { managed } })["proof:project"]?.when;
    const open = { organizationId: orgId };
    expect(when(token, true)).toEqual({ ...open, managerIds: { is: "absentOrContains", value: userId } });
    expect(when(token, false)).toEqual(open);
    expect(when(key, true)).toEqual(open);
    expect(when(session, true)).toEqual(open);
  });

  test("ask for the role where more than a member is needed", () => {
    const when = (more: Asked) => checks(token, more)["proof:membership"]?.when;
    const member = { organizationId: orgId };
    const owner = { ...member, role: { is: "oneOf", values: ["owner"] } };
    expect(when({})).toEqual(member);
    expect(when({ rule: { role: "admin" } })).toEqual({ ...member, role: { is: "oneOf", values: ["admin", "owner"] } });
    expect(when({ rule: { role: "owner", orSelf: true }, userId })).toEqual(member);
    expect(when({ rule: { role: "owner", orSelf: true }, userId: otherOrg })).toEqual(owner);
    expect(when({ rule: { role: "owner" }, userId })).toEqual(owner);
  });

  test("ask what a token is bounded to", () => {
    const when = (more: Asked) => checks(token, more)["proof:token"]?.when;
    const good = { hash: "hash", expiresAt: { is: "absentOrAbove", value: at } };
    const inOrganization = { ...good, organizationIds: { is: "absentOrContains", value: orgId } };
    expect(when({ orgId: undefined })).toEqual(good);
    expect(when({})).toEqual(inOrganization);
    expect(when({ rule: { tokens: ["deploy", "all"] } })).toEqual({
      ...inOrganization,
      access: { is: "absentOrOneOf", values: ["deploy", "all"] },
    });
  });

  test("after the caller was proved are that the project is still there", () => {
    const { "proof:project": check } = laterChecks(asks(token, { projectId, rule: { managed: true } }));
    expect(check).toMatchObject({ kind: "check", key: { pk: `PRJ#${projectId}`, sk: "PRJ" } });
    expect(check?.when).toEqual({ organizationId: orgId });
    expect(laterChecks(asks(token))["proof:project"]).toBeUndefined();
    expect(laterChecks(asks(token, { orgId: undefined, projectId }))["proof:project"]).toBeUndefined();
  });
});

test("a proved caller is the user with role and bounds, or the organization of the key or session", () => {
  const bounds = { access: "read" as const, organizationIds: [orgId], expiresAt: later };
  const rows = { ...good.token, "proof:token": { ...tokenRow, ...bounds } };
  expect(callerOf(asks(token), rows)).toEqual({ kind: "user", userId, role: "owner", bounds });
  const unbounded = { access: "all", organizationIds: undefined, expiresAt: undefined };
  expect(callerOf(asks(signedIn), good.console)).toEqual({ kind: "user", userId, role: "owner", bounds: unbounded });
  expect(callerOf(asks(key), good.key)).toEqual({ kind: "organization", organizationId: orgId });
  expect(callerOf(asks(session), good.session)).toEqual({ kind: "organization", organizationId: orgId });
});

test.each<[string, PresentedCredential, Asked, boolean]>([
  ["a key in its own organization", key, {}, true],
  ["a key and a project", key, { projectId }, true],
  ["a key without an organization in the path", key, { orgId: undefined }, true],
  ["a key in another organization", key, { orgId: otherOrg }, false],
  ["a session in another organization", session, { orgId: otherOrg }, false],
  ["a token in any organization", token, { orgId: otherOrg }, true],
  ["a key where only users may", key, { rule: { usersOnly: true } }, false],
  ["a token where only users may", token, { rule: { usersOnly: true } }, true],
  ["a token where only the console may", token, { rule: { consoleOnly: true } }, false],
  ["a bearer of the console where only the console may", signedIn, { rule: { consoleOnly: true } }, true],
  ["a token where the organization is none", token, { orgId: "org_x" }, false],
  ["a token where the project is none", token, { projectId: "prj_x" }, false],
  ["a token where the project is an organization", token, { projectId: orgId }, false],
])("%s: only a plausible request begins with its write", (_, credential, more, plausible) => {
  expect(isPlausible(asks(credential, more))).toBe(plausible);
});
