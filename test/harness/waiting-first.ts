import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The files that take longest, most of it waiting: started first, they wait while the others work, and none is last. */
const waiting = [
  "test/pipeline/faults/kill.test.ts",
  "test/pipeline/cloud.test.ts",
  "test/pipeline/faults/call-faults.test.ts",
  "test/pipeline/faults/random-scenarios.test.ts",
  "test/api/faults/table-faults.test.ts",
  "test/pipeline/unhealthy.test.ts",
  "test/pipeline/faults/live-unknown.test.ts",
  "test/pipeline/frameworks/python.test.ts",
  "test/api/tables/rows.test.ts",
  "test/local/rds/rds-data.test.ts",
  "test/local/rds/kill-while-starting.test.ts",
  "test/pipeline/faults/cancel.test.ts",
  "test/pipeline/taken-port.test.ts",
  "test/local/stepfunctions/crash.test.ts",
  "test/images/node.test.ts",
  "test/e2e/readme.test.ts",
];

/** The base images of these may still be in the making when the others run. */
const inContainers =
  /test\/(pipeline\/(containers|lanes|lane-switch)|local\/ecs\/(containers|container-recovery))\.test\.ts$/;

/** A worker keeps its process only if the next file is of the same project, so the files of a project stay together. */
const projects = ["pipeline", "api", "local", "console", "e2e", "synth", "images", "unit"];

function rank({ moduleId, project }: TestSpecification): [number, number] {
  if (inContainers.test(moduleId)) return [projects.indexOf("images"), 0];
  const index = waiting.findIndex((file) => moduleId.endsWith(file));
  return [projects.indexOf(project.name), index < 0 ? waiting.length : index];
}

/** The order of the whole run: by project, in each what waits longest first, the rest as vitest orders it. */
export class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const ranked = (await super.sort(files)).map((file) => ({ file, rank: rank(file) }));
    ranked.sort((one, other) => one.rank[0] - other.rank[0] || one.rank[1] - other.rank[1]);
    return ranked.map(({ file }) => file);
  }
}
