import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The files of `services` that take longest, most of it waiting: they begin early, so that none is last. */
const waiting = [
  "test/console/console.test.ts",
  "test/pipeline/cloud.test.ts",
  "test/pipeline/faults/call-faults.test.ts",
  "test/pipeline/unhealthy.test.ts",
  "test/api/tables/schema.test.ts",
  "test/api/round-trips.test.ts",
  "test/local/rds/kill-while-starting.test.ts",
  "test/local/stepfunctions/crash.test.ts",
  "test/api/faults/table-faults.test.ts",
  "test/pipeline/faults/kill.test.ts",
  "test/pipeline/release.test.ts",
  "test/pipeline/faults/live-unknown.test.ts",
  "test/api/organizations/deletion.test.ts",
  "test/local/rds/rds-data.test.ts",
  "test/pipeline/faults/random-scenarios.test.ts",
  "test/pipeline/frameworks/python.test.ts",
  "test/api/tables/rows.test.ts",
  "test/local/home/home.test.ts",
];
/** As many files stand between two of them, so that at each time some workers compute while others wait. */
const between = 7;

/** The longest files of `synth`, which begin first there: each takes longer than all the others together. */
const longest = ["test/synth/template.test.ts", "test/synth/bundle.test.ts"];

/** The base images of these may still be in the making when the others run. */
const inContainers =
  /test\/(pipeline\/(containers|container-backend|backend-switch)|local\/ecs\/(containers|container-recovery))\.test\.ts$/;

/** A worker keeps its process only if the next file is of the same project, so the files of a project stay together. */
const projects = ["services", "e2e", "synth", "images", "unit"];

function projectRank({ moduleId, project }: TestSpecification): number {
  const isLate = process.env.CONTAINERS_PREPARED !== undefined && inContainers.test(moduleId);
  return projects.indexOf(isLate ? "images" : project.name);
}

const isLongest = ({ moduleId }: TestSpecification) => longest.some((file) => moduleId.endsWith(file));

const waitingRank = ({ moduleId }: TestSpecification) => waiting.findIndex((file) => moduleId.endsWith(file));

/**
 * The order of the whole run: by project, its longest files first. Those that wait are spread over the first part of theirs,
 * the rest is as vitest orders it.
 */
export class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const order = sorted.filter((file) => waitingRank(file) < 0);
    order.sort(
      (one, other) => projectRank(one) - projectRank(other) || Number(isLongest(other)) - Number(isLongest(one)),
    );
    const waiters = sorted.filter((file) => waitingRank(file) >= 0);
    waiters.sort((one, other) => waitingRank(one) - waitingRank(other));
    for (const [index, file] of waiters.entries()) order.splice(index * (between + 1), 0, file);
    return order;
  }
}
