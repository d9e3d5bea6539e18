import { expect, test } from "vitest";
import { actorOf, idsIn } from "../../../../lambdas/http/events.ts";

test("an event names the resources of an answer by their ids, and takes nothing else from it", () => {
  const file = (id: string) => ({ id, name: "secret.txt", url: "https://signed" });
  expect(idsIn({ environment: { id: "env_1", name: "A", value: "secret" } })).toEqual({ environmentId: "env_1" });
  expect(idsIn({ credential: { id: 7, access: "slk_1" } })).toEqual({ credentialId: "7" });
  expect(idsIn({ files: [file("fil_1"), file("fil_2")] })).toEqual({ fileIds: ["fil_1", "fil_2"] });
  expect(idsIn({ token: { id: "tok_1", value: "slp_1" }, nextCursor: null, url: "https://signed" })).toEqual({
    tokenId: "tok_1",
  });
});

test.each([[undefined], [null], ["text"], [7], [[]], [{}], [{ table: null, rows: [] }], [{ build: { id: null } }]])(
  "an answer of %o names no resource",
  (reply) => {
    expect(idsIn(reply)).toEqual({});
  },
);

test("an event names its caller without the hash of a secret", () => {
  const session = { kind: "session", organizationId: "org_1", sessionId: "s1", hash: "h" } as const;
  expect(actorOf({ kind: "key", access: "slk_1", organizationId: "org_1", hash: "h" })).toEqual({
    kind: "key",
    access: "slk_1",
  });
  expect(actorOf({ kind: "token", userId: "usr_1", tokenId: "tok_1", hash: "h" })).toEqual({
    kind: "user",
    userId: "usr_1",
    tokenId: "tok_1",
  });
  expect(actorOf({ ...session, origin: { access: "slk_1" } })).toEqual({
    kind: "key",
    access: "slk_1",
    sessionId: "s1",
  });
  expect(actorOf({ ...session, origin: { projectId: "prj_1" } })).toEqual({
    kind: "app",
    projectId: "prj_1",
    sessionId: "s1",
  });
});
