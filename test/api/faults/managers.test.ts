import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Running } from "../../harness/service.ts";
import { type Guarded, startGuarded } from "./guarded-service.ts";
import type { Row } from "./invariants.ts";

interface Person {
  id: string;
  name: string;
  email: string;
  token: string;
}

describe("a project restricted to managing members (docs/api.md, Managing members)", () => {
  let guarded: Guarded;
  let project: Running;
  let manager: Person;
  let owner: Person;

  async function person(name: string, role: string): Promise<Person> {
    const { running } = guarded;
    const email = `${name.toLowerCase()}@example.com`;
    const { user } = await running.operator("create-user", { name, email });
    const id = String(user?.id);
    await running.operator("add-member", { organizationId: running.seed.organizationId, userId: id, role });
    const { token } = await running.operator("create-token", { userId: id });
    return { id, name, email, token: String(token?.value) };
  }

  beforeAll(async () => {
    guarded = await startGuarded();
    manager = await person("Mara", "member");
    owner = await person("Otto", "owner");
  });
  afterAll(() => guarded.stop());
  beforeEach(async () => {
    project = await guarded.newProject();
    await restrict([manager.id]);
  });

  const restrict = (userIds: string[] | null) =>
    guarded.running.operator("set-managers", { projectId: project.seed.projectId, userIds });
  const as = (who: Person | undefined, path: string) =>
    project.call("POST", `${project.project}${path}`, who ? { bearer: who.token } : {});
  const unknown = "/builds/bld_00000000000000000000000000/redeploy";

  test.each(["/builds", "/rebuild"])(
    "POST %s by an owner who is not on the list: 403 that names the managers",
    async (path) => {
      const refused = await as(owner, path);
      const { id, name, email } = manager;
      expect(refused).toMatchObject({
        status: 403,
        body: { status: "Forbidden", code: "not_a_manager", managers: [{ id, name, email }] },
      });
      expect(refused.headers.get("retry-after")).toBeNull();
      expect(await guarded.broken(project)).toEqual([]);
      expect(
        (await guarded.direct.rows()).filter(({ pk, sk }) => sk === "LOCK" && pk.endsWith(project.seed.projectId)),
      ).toEqual([]);
    },
  );

  test("the listed member and any key create builds; the owner still reads, cancels and sets variables", async () => {
    const created = await as(manager, "/builds");
    expect(created.status).toBe(201);
    expect((await as(owner, "/builds")).status).toBe(403);
    const { id } = created.body.build;
    const read = await project.call("GET", `${project.project}/builds/${id}`, { bearer: owner.token });
    expect(read.status).toBe(200);
    expect((await as(owner, `/builds/${id}/cancel`)).status).toBe(200);
    const variable = { bearer: owner.token, body: { name: "A", value: "b" } };
    expect((await project.call("POST", `${project.project}/environments`, variable)).status).toBe(201);
    const byKey = await as(undefined, "/builds");
    expect(byKey.status).toBe(201);
    // 403 comes before 409 (docs/api.md, Order of checks).
    expect((await as(owner, "/builds")).status).toBe(403);
    expect((await as(manager, "/builds")).status).toBe(409);
    await as(undefined, `/builds/${byKey.body.build.id}/cancel`);
    expect((await as(manager, "/rebuild")).body.code).toBe("never_deployed");
    // A missing build is a 404 for everyone; only managers may redeploy an existing one.
    for (const who of [manager, owner, undefined]) expect((await as(who, unknown)).status).toBe(404);
    expect((await as(owner, `/builds/${id}/redeploy`)).status).toBe(403);
    expect((await as(manager, `/builds/${id}/redeploy`)).body.code).toBe("build_canceled");
  });

  test("an empty list refuses every user; no list admits every member again", async () => {
    await restrict([]);
    expect(await as(manager, "/builds")).toMatchObject({ status: 403, body: { managers: [] } });
    expect((await as(undefined, "/builds")).status).toBe(201);
    await restrict(null);
    expect((await as(owner, "/builds")).status).toBe(409);
  });

  test("no request passes the list after access was removed while requests run", async () => {
    await restrict(null);
    const answers = await Promise.all([
      restrict([manager.id]).then(() => as(owner, "/builds")),
      ...Array.from({ length: 10 }, () => as(owner, "/rebuild")),
    ]);
    expect(answers[0]?.status).toBe(403);
    expect(answers.slice(1).every((answer) => "status" in answer && [403, 409].includes(Number(answer.status)))).toBe(
      true,
    );
  });

  test("a rebuild and a redeploy say which rule refuses them", async () => {
    await restrict(null);
    const { projectId } = project.seed;
    const created = await as(undefined, "/builds");
    await as(undefined, `/builds/${created.body.build.id}/cancel`);
    const pk = `PRJ#${projectId}`;
    const canceled = (await guarded.direct.rowsOf(projectId)).find(({ sk }) => sk.startsWith("BLD#"));
    /** Stores a build of an earlier time with this status. */
    const put = async (number: number, status: string) => {
      const id = `bld_${String(number).padStart(26, "0")}`;
      const { canceledAt: _, ...rest } = canceled as Row & { canceledAt?: string };
      await guarded.direct.put({ ...rest, pk, sk: `BLD#${id}`, id, status });
      return id;
    };
    // The service trusts what it has read for a few seconds: a time ahead keeps it trusted while the test runs.
    const readAt = new Date(Date.now() + 3_600_000).toISOString();
    const serve = (buildId: string) => guarded.direct.put({ pk, sk: "LIVE", buildId, readAt });
    const ready: string[] = [];
    for (let number = 1; number <= 12; number += 1) ready.push(await put(number, "ready"));
    const failed = await put(13, "error");
    const [oldest = "", live = ""] = [ready[0], ready[11]];
    await guarded.direct.put({ pk, sk: "READY", buildIds: ready.slice(1).toReversed() });
    await serve(live);
    const codeOf = async (path: string) => {
      const { status, body } = await as(undefined, path);
      return [status, body.code];
    };
    expect(await codeOf(`/builds/${oldest}/redeploy`)).toEqual([409, "build_outside_window"]);
    expect(await codeOf(`/builds/${failed}/redeploy`)).toEqual([409, "build_not_successful"]);
    expect(await codeOf(`/builds/${live}/redeploy`)).toEqual([409, "build_already_live"]);
    expect(await codeOf(`/builds/${ready[1]}/redeploy`)).toEqual([410, "source_gone"]);
    expect(await codeOf("/rebuild")).toEqual([410, "source_gone"]);
    await serve(failed);
    expect(await codeOf("/rebuild")).toEqual([409, "deployed_build_not_successful"]);
    // A running build is named before any other reason.
    const running = await as(undefined, "/builds");
    for (const path of ["/rebuild", `/builds/${oldest}/redeploy`, `/builds/${failed}/redeploy`]) {
      expect(await as(undefined, path)).toMatchObject({
        status: 409,
        body: { code: "build_in_progress", build: { id: running.body.build.id } },
      });
    }
    await as(undefined, `/builds/${running.body.build.id}/cancel`);
  });

  test("a broken body is refused after the list: 403 for the owner, 400 for the manager", async () => {
    const body = { title: "x".repeat(129) };
    const path = `${project.project}/builds`;
    expect((await project.call("POST", path, { bearer: owner.token, body })).status).toBe(403);
    expect((await project.call("POST", path, { bearer: manager.token, body })).status).toBe(400);
  });
});
