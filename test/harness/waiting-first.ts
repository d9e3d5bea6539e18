import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Tests that wait for time-outs of half a minute and more: started first, they wait while the others work. */
const waiting = [
  "test/pipeline/unhealthy.test.ts",
  "test/api/faults/table-faults.test.ts",
  "test/pipeline/faults/kill.test.ts",
  "test/pipeline/faults/live-unknown.test.ts",
  "test/api/tables/rows.test.ts",
  "test/local/rds/rds-data.test.ts",
  "test/images/node.test.ts",
  "test/e2e/readme.test.ts",
];

function rank({ moduleId }: TestSpecification): number {
  const index = waiting.findIndex((file) => moduleId.endsWith(file));
  return index < 0 ? waiting.length : index;
}

/** The order of the whole run: what waits longest first, the rest as vitest orders it. */
export class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((one, other) => rank(one) - rank(other));
  }
}
