import { DescribeServicesCommand, ECSClient } from "@aws-sdk/client-ecs";
import { expect, vi } from "vitest";
import { serviceName } from "../../../lambdas/aws/app-names.ts";
import type { AwsCall, CallFault } from "../../../local/aws/call-faults.ts";
import type { Behavior } from "../../../local/behavior.ts";
import { names } from "../../../local/names.ts";
import { type Guarded, startGuarded } from "../../api/faults/guarded-service.ts";
import { address, finished, uploadPatiently, zipOf } from "../../harness/app.ts";
import type { Answer, Running } from "../../harness/service.ts";
import { runtimeOf } from "../../harness/signing.ts";
import { startTraffic } from "../../harness/traffic.ts";

/** Chooses the fault of a call of one project's pipeline; `index` counts the project's calls of the operation. */
export type ProjectFaults = (call: AwsCall, index: number) => CallFault | undefined;

/** A project whose pipeline's calls can be given faults, and are counted. */
export interface FaultyProject extends Running {
  id: string;
  faults: ProjectFaults | undefined;
  /** The number of calls by `Service.Operation` since the last `clear`. */
  calls: Map<string, number>;
}

export interface FaultyService {
  guarded: Guarded;
  ecs: ECSClient;
  newProject(): Promise<FaultyProject>;
  /** The answer to the creation of a build, repeated while it is a 503. One project at a time: no other may create builds. */
  create(project: FaultyProject): Promise<Answer>;
  /** Creates a build, uploads these files and returns the finished build. */
  deploy(project: FaultyProject, files: Record<string, string>): Promise<Answer["body"]>;
  /** Rebuilds what serves and returns the finished build. */
  rebuild(project: FaultyProject): Promise<Answer["body"]>;
  /** Lets the calls about a build's tasks be found. */
  owns(project: FaultyProject, buildId: string): void;
  stop(): Promise<void>;
}

/** The text in a task token, which names the execution. */
function tokenText(input: string): string {
  const token = /"taskToken":"([^".]+)/.exec(input)?.[1] ?? "";
  return Buffer.from(token, "base64url").toString("utf8");
}

/** Starts the service once for many projects; each call is given the fault of the project that it is about. */
export async function startFaulty(
  behavior: Behavior,
  options: { healthTimeoutSeconds?: number } = {},
): Promise<FaultyService> {
  const projects = new Map<string, FaultyProject>();
  const owners = new Map<string, FaultyProject>();
  /** The project whose build is created; one at a time, because a call of AssumeRole names no project. */
  let creating: FaultyProject | undefined;
  let creations: Promise<unknown> = Promise.resolve();
  const ownerOf = ({ operation, input, origin = "" }: AwsCall): FaultyProject | undefined => {
    if (operation === "AssumeRole") return creating;
    const text = operation === "SendTaskSuccess" ? tokenText(input) : `${input} ${origin}`;
    // The name of a service has a hyphen in the place of the underscore.
    const named = /prj[_-]([0-9a-z]{26})/.exec(text)?.[1];
    if (named !== undefined) return projects.get(`prj_${named}`);
    const build = /bld_[0-9a-z]{26}/.exec(text)?.[0];
    return build === undefined ? undefined : owners.get(build);
  };
  const guarded = await startGuarded({
    ...options,
    behavior: {
      ...behavior,
      faults(call) {
        const project = ownerOf(call);
        // Calls for API requests contain the client's key, and a client makes the upload; the pipeline makes all others.
        const isUpload = call.operation === "PutObject" && call.input.startsWith(`/${names.archives}/`);
        if (!project || isUpload || call.input.includes(project.seed.accessKey)) return behavior.faults?.(call);
        const name = `${call.service}.${call.operation}`;
        const index = project.calls.get(name) ?? 0;
        project.calls.set(name, index + 1);
        return project.faults?.(call, index) ?? behavior.faults?.(call);
      },
    },
  });
  /** Creates a build, as often as the answer is a 503, which must leave nothing behind. */
  async function created(project: FaultyProject): Promise<Answer> {
    for (;;) {
      const answer = await project.call("POST", `${project.project}/builds`);
      if (answer.status !== 503) return answer;
      expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
      expect((await guarded.direct.rowsOf(project.id)).filter(({ sk }) => sk === "LOCK")).toEqual([]);
      expect(await guarded.broken(project)).toEqual([]);
    }
  }
  function createInTurn(project: FaultyProject): Promise<Answer> {
    const own = creations.then(() => {
      creating = project;
      return created(project);
    });
    creations = own
      .catch(() => undefined)
      .then(() => {
        creating = undefined;
      });
    return own;
  }
  const ecs = new ECSClient({ ...runtimeOf(guarded.running.home), region: "us-east-1" });
  const service: FaultyService = {
    guarded,
    ecs,
    create: createInTurn,
    async newProject() {
      const running = await guarded.newProject();
      const project: FaultyProject = { ...running, id: running.seed.projectId, faults: undefined, calls: new Map() };
      projects.set(project.id, project);
      return project;
    },
    async deploy(project, files) {
      const { status, body } = await createInTurn(project);
      expect(status).toBe(201);
      const { id } = body.build;
      service.owns(project, id);
      expect((await uploadPatiently(body.url, await zipOf(files))).status).toBe(200);
      return finished(project, id);
    },
    async rebuild(project) {
      const created = await project.call("POST", `${project.project}/rebuild`);
      expect(created.status).toBe(201);
      service.owns(project, created.body.build.id);
      return finished(project, created.body.build.id);
    },
    owns: (project, buildId) => void owners.set(buildId, project),
    async stop() {
      ecs.destroy();
      await guarded.stop();
    },
  };
  return service;
}

/** What an address answers; null for an error status or no answer. */
export const textAt = async (url: string): Promise<string | null> => {
  try {
    const response = await fetch(url);
    return response.ok ? await response.text() : null;
  } catch {
    return null;
  }
};

/** The build whose image ECS serves for a project; null if it serves none. */
async function servedBuild(client: ECSClient, project: FaultyProject): Promise<string | null> {
  const services = [serviceName(project.id)];
  const { services: found } = await client.send(new DescribeServicesCommand({ cluster: "slipway", services }));
  const [service] = found ?? [];
  if (service?.status !== "ACTIVE" || !service.desiredCount) return null;
  return /bld_[0-9a-z]{26}/.exec(service.taskDefinition ?? "")?.[0] ?? null;
}

/**
 * Requests the serving version until the end of a build; the result checks what must be true after the build.
 * `mayHaveServed` is a healthy version that can have had the traffic before it was taken back.
 */
export async function holdsInvariants(
  service: FaultyService,
  project: FaultyProject,
  serving: string | null,
): Promise<(build: Answer["body"] | undefined, serves: string | null, mayHaveServed?: string) => Promise<void>> {
  const traffic = serving === null ? undefined : startTraffic(await address(project), 200);
  return async (build, serves, mayHaveServed) => {
    const seen = await traffic?.stop();
    expect(seen?.failures ?? []).toEqual([]);
    const mayBeSeen = [serving, serves, mayHaveServed];
    expect([...(seen?.bodies ?? [])].filter((text) => !mayBeSeen.includes(text))).toEqual([]);
    expect(await textAt(await address(project))).toBe(serves);
    const { body } = await project.call("GET", `${project.project}/builds?limit=100`);
    const live = body.builds.filter(({ isLive }: { isLive: boolean }) => isLive);
    expect(live.map(({ status }: { status: string }) => status)).toEqual(serves === null ? [] : ["ready"]);
    // ECS may still describe the state before its last change.
    const isServed = async () => expect(await servedBuild(service.ecs, project)).toBe(live[0]?.id ?? null);
    await vi.waitFor(isServed, { timeout: 30_000, interval: 200 });
    if (build) expect(live[0]?.id === build.id).toBe(build.status === "ready");
    // At most one lock, and it is released: the next build can be created at once.
    expect(await service.guarded.broken(project)).toEqual([]);
    const next = await service.create(project);
    expect(next.status).toBe(201);
    expect((await project.call("POST", `${project.project}/builds/${next.body.build.id}/cancel`)).status).toBe(200);
  };
}
