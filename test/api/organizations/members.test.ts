import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CallOptions, type Running, startRunning } from "../../harness/service.ts";

let running: Running;
let organization: string;
let members: string;
interface Person {
  id: string;
  token: string;
}
const people: Record<string, Person> = {};
let emails = 0;

const as = (person: Person | undefined, method: string, path: string, options: CallOptions = {}) =>
  running.call(method, path, { ...options, bearer: person?.token ?? "" });
const freshEmail = () => {
  emails += 1;
  return `person-${emails}@example.com`;
};

async function aUser(email = freshEmail()): Promise<Person> {
  const { user } = await running.operator("create-user", { email, name: email });
  const { token } = await running.operator("create-token", { userId: user?.id });
  return { id: String(user?.id), token: String(token?.value) };
}

/** An organization with these roles, by the names of their holders. */
async function anOrganization(roles: Record<string, string>) {
  const { organization: made } = await running.operator("create-organization", { name: "Made" });
  const organizationId = String(made?.id);
  const holders: Record<string, Person> = {};
  for (const [name, role] of Object.entries(roles)) {
    const person = await aUser();
    holders[name] = person;
    await running.operator("add-member", { organizationId, userId: person.id, role });
  }
  return { organizationId, members: `/organizations/${organizationId}/members`, holders };
}

beforeAll(async () => {
  running = await startRunning();
  organization = `/organizations/${running.seed.organizationId}`;
  members = `${organization}/members`;
  for (const role of ["owner", "admin", "member"]) {
    const person = await aUser(`${role}@example.com`);
    people[role] = person;
    await running.operator("add-member", { organizationId: running.seed.organizationId, userId: person.id, role });
  }
});
afterAll(() => running.stop());

const invite = (by: string, body: object, options: CallOptions = {}) =>
  as(people[by], "POST", members, { body, ...options });

describe("inviting", () => {
  test("a new user gets a one-time link for seven days, and is listed", async () => {
    const answer = await invite("admin", { email: " New.Person@Example.com ", role: "member" });
    const { member, invitation } = answer.body;
    expect([answer.status, member]).toEqual([
      201,
      {
        id: expect.stringMatching(/^usr_/),
        name: "New.Person",
        email: "New.Person@Example.com",
        role: "member",
        createdAt: expect.any(String),
      },
    ]);
    expect(invitation).toEqual({
      url: expect.stringMatching(/^http:\/\/localhost:\d+\/console\/sign-in#code=sll_\w+$/),
      expiresAt: new Date(Date.parse(member.createdAt) + 7 * 24 * 3600 * 1000).toISOString(),
    });
    const { body } = await running.call("GET", members);
    expect(body.members.at(-1)).toEqual(member);
    expect(JSON.stringify(body)).not.toContain("sll_");
    const again = await invite("admin", { email: "new.person@example.COM", role: "admin" });
    expect(again).toMatchObject({ status: 409, body: { code: "already_member" } });
  });

  test("a user who exists becomes a member at once and keeps their name", async () => {
    const person = await aUser("Existing@example.com");
    const answer = await invite("admin", { email: "existing@EXAMPLE.com", name: "Other", role: "admin" });
    expect(answer.body).toMatchObject({
      member: { id: person.id, name: "Existing@example.com", email: "Existing@example.com", role: "admin" },
      invitation: null,
    });
    expect((await as(person, "GET", organization)).body.organization.role).toBe("admin");
  });

  test("a repeated request answers without the link", async () => {
    const headers = { "idempotency-key": "invite" };
    const body = { email: "repeated@example.com", role: "member" };
    const first = await invite("owner", body, { headers });
    const again = await invite("owner", body, { headers });
    const { url: _, ...invitation } = first.body.invitation;
    expect([again.status, again.body]).toEqual([201, { member: first.body.member, invitation }]);
  });

  test("one address invited many times at once makes one user and one member", async () => {
    const email = freshEmail();
    const answers = await Promise.all(Array.from({ length: 8 }, () => invite("admin", { email, role: "member" })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(7).fill(409)]);
    const listed = (await running.call("GET", members)).body.members;
    expect(listed.filter((one: { email: string }) => one.email === email)).toHaveLength(1);
  });

  test.each([
    [{ role: "member" }, "email"],
    [{ email: "no-address", role: "member" }, "email"],
    [{ email: "a@b@c", role: "member" }, "email"],
    [{ email: "a b@example.com", role: "member" }, "email"],
    [{ email: `${"a".repeat(250)}@b.de`, role: "member" }, "email"],
    [{ email: "x@example.com", role: "king" }, "role"],
    [{ email: "x@example.com" }, "role"],
    [{ email: "x@example.com", role: "member", name: " " }, "name"],
  ])("%j is a 400", async (body, path) => {
    expect(await invite("admin", body)).toMatchObject({ status: 400, body: { issues: [{ path }] } });
  });

  test("only an owner grants the role owner, which is checked before the input", async () => {
    for (const body of [{ email: "x@example.com", role: "owner" }, { role: "owner" }]) {
      const refused = await invite("admin", body);
      expect(refused).toMatchObject({ status: 403, body: { code: "forbidden", requiredRole: "owner" } });
      const lesser = await invite("member", body);
      expect(lesser).toMatchObject({ status: 403, body: { code: "forbidden", requiredRole: "admin" } });
    }
    expect((await invite("owner", { email: freshEmail(), role: "owner" })).status).toBe(201);
  });

  test("at most 500 members, also at once", async () => {
    const made = await anOrganization({ owner: "owner" });
    const { DynamoDBClient } = await import("@aws-sdk/client-dynamodb");
    const { DynamoDBDocumentClient, UpdateCommand } = await import("@aws-sdk/lib-dynamodb");
    const table = DynamoDBDocumentClient.from(new DynamoDBClient({}));
    await table.send(
      new UpdateCommand({
        TableName: "slipway",
        Key: { pk: `ORG#${made.organizationId}`, sk: "TOTALS" },
        UpdateExpression: "SET members = :count",
        ExpressionAttributeValues: { ":count": 498 },
      }),
    );
    table.destroy();
    const answers = await Promise.all(
      Array.from({ length: 5 }, () =>
        as(made.holders.owner, "POST", made.members, { body: { email: freshEmail(), role: "member" } }),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(2);
    expect(answers.filter(({ body }) => body.code === "limit_reached")).toHaveLength(3);
  });
});

describe("roles", () => {
  test("an admin changes admins and members, and an owner changes owners", async () => {
    const { members: list, holders } = await anOrganization({
      one: "owner",
      two: "owner",
      admin: "admin",
      member: "member",
    });
    const set = (by: string, whom: string, role: string) =>
      as(holders[by], "PUT", `${list}/${holders[whom]?.id}`, { body: { role } });
    expect((await set("admin", "member", "admin")).body.member.role).toBe("admin");
    expect(await set("admin", "member", "owner")).toMatchObject({ status: 403, body: { requiredRole: "owner" } });
    expect(await set("admin", "one", "member")).toMatchObject({ status: 403, body: { requiredRole: "owner" } });
    expect(await as(holders.admin, "PUT", `${list}/${holders.one?.id}`, { text: '{"role":' })).toMatchObject({
      status: 403,
    });
    expect((await set("one", "two", "member")).body.member).toMatchObject({ role: "member" });
    expect(await set("two", "member", "member")).toMatchObject({ status: 403, body: { requiredRole: "admin" } });
    expect(await set("one", "one", "member")).toMatchObject({ status: 409, body: { code: "last_owner" } });
    expect((await set("one", "member", "king")).status).toBe(400);
    const { body } = await as(holders.two, "GET", list);
    expect(body.members.map(({ role }: { role: string }) => role)).toEqual(["owner", "member", "admin", "admin"]);
  });

  test("two owners who demote each other at once leave one", async () => {
    for (let round = 0; round < 5; round += 1) {
      const { members: list, holders } = await anOrganization({ one: "owner", two: "owner" });
      const { one, two } = holders;
      const demote = (by: Person | undefined, whom: Person | undefined) =>
        as(by, "PUT", `${list}/${whom?.id}`, { body: { role: "member" } });
      const leave = (by: Person | undefined) => as(by, "DELETE", `${list}/${by?.id}`);
      const answers = await Promise.all(
        round % 2 === 0 ? [demote(one, two), demote(two, one)] : [leave(one), leave(two)],
      );
      const won = answers.filter(({ status }) => status === 200);
      expect(won).toHaveLength(1);
      expect(answers.find(({ status }) => status !== 200)?.body.code).toMatch(/^(last_owner|forbidden)$/);
      const reader = round % 2 === 0 ? one : answers[0]?.status === 200 ? two : one;
      const { body } = await as(reader, "GET", list);
      expect(body.members.filter(({ role }: { role: string }) => role === "owner")).toHaveLength(1);
    }
  });
});

describe("removing", () => {
  test("a member leaves the managers' lists, and their tokens reach the organization no more", async () => {
    const {
      organizationId,
      members: list,
      holders,
    } = await anOrganization({ owner: "owner", gone: "member", other: "member" });
    const { owner, gone, other } = holders;
    const projects = `/organizations/${organizationId}/projects`;
    const { project } = (await as(owner, "POST", projects, { body: { name: "Managed" } })).body;
    const managers = { userIds: [gone?.id, other?.id] };
    expect((await as(owner, "PUT", `${projects}/${project.id}/managers`, { body: managers })).status).toBe(200);
    expect((await as(gone, "POST", `${projects}/${project.id}/builds`)).status).toBe(201);
    const removed = await as(owner, "DELETE", `${list}/${gone?.id}`);
    expect([removed.status, removed.body]).toEqual([200, { member: gone?.id }]);
    for (const path of [list, projects, `${projects}/${project.id}`])
      expect((await as(gone, "GET", path)).status).toBe(404);
    expect((await as(gone, "GET", "/organizations")).body.organizations).toEqual([]);
    const read = async () => (await as(owner, "GET", `${projects}/${project.id}`)).body.project.managers;
    expect((await read()).map(({ id }: Person) => id)).toEqual([other?.id]);
    expect((await as(owner, "DELETE", `${list}/${gone?.id}`)).status).toBe(404);
    // Coming back does not bring the old place back.
    await running.operator("add-member", { organizationId, userId: gone?.id, role: "member" });
    expect(await as(gone, "POST", `${projects}/${project.id}/builds`)).toMatchObject({ status: 403 });
  });

  test("a member who becomes a manager and leaves at the same time is never a manager without membership", async () => {
    for (let round = 0; round < 5; round += 1) {
      const { organizationId, members: list, holders } = await anOrganization({ owner: "owner", gone: "member" });
      const { owner, gone } = holders;
      const projects = `/organizations/${organizationId}/projects`;
      const { project } = (await as(owner, "POST", projects, { body: { name: "Raced" } })).body;
      const [removed, managed] = await Promise.all([
        as(owner, "DELETE", `${list}/${gone?.id}`),
        as(owner, "PUT", `${projects}/${project.id}/managers`, { body: { userIds: [gone?.id] } }),
      ]);
      expect(removed.status).toBe(200);
      expect([200, 400]).toContain(managed.status);
      const { managers } = (await as(owner, "GET", `${projects}/${project.id}`)).body.project;
      expect(managers ?? []).toEqual([]);
    }
  });

  test("every member may leave, except the last owner; only admins remove others, only owners remove owners", async () => {
    const { members: list, holders } = await anOrganization({ owner: "owner", admin: "admin", member: "member" });
    const remove = (by: string, whom: string) => as(holders[by], "DELETE", `${list}/${holders[whom]?.id}`);
    expect(await remove("member", "admin")).toMatchObject({ status: 403, body: { requiredRole: "admin" } });
    expect(await remove("admin", "owner")).toMatchObject({ status: 403, body: { requiredRole: "owner" } });
    expect(await remove("owner", "owner")).toMatchObject({ status: 409, body: { code: "last_owner" } });
    expect((await remove("member", "member")).status).toBe(200);
    expect((await remove("admin", "admin")).status).toBe(200);
    expect((await as(holders.owner, "GET", list)).body.members).toHaveLength(1);
  });
});
