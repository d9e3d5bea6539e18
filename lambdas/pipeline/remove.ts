import { removalStep } from "../http/step.ts";

import { Removal, removalLease } from "../removals/model/removal.ts";
import { dropStatements } from "../tables/model/drop-database.ts";
import { removeBuilds } from "./model/remove-builds.ts";
import { removeProjectRows } from "./model/remove-rows.ts";

/** One stage of a removal; every stage can run again, and `builds` does so until it is done. */
export const handler = removalStep(async ({ removal, stage }, tools) => {
  const { id, organizationId, buildId } = removal;
  const leaseUntil = removalLease(new Date());
  let done = true;
  switch (stage) {
    case "deployment":
      if (buildId !== null) await tools.executions.stop(buildId);
      break;
    case "app":
      await tools.appRemover.remove(id);
      break;
    case "archives":
      await tools.archiveRemover.removeAll({ organizationId, id });
      break;
    case "images":
      await tools.imageRemover.remove(id);
      break;
    case "output":
      await tools.outputRemover.removeApps(id);
      break;
    case "builds":
      // A step of this build that began before the deletion can register a task definition after the build's row is gone.
      if (buildId !== null) await tools.definitionRemover.remove(buildId);
      done = await removeBuilds(tools, id);
      break;
    case "rows":
      await removeProjectRows(tools.table, id);
      break;
    case "tables":
      await tools.databases.runAll(dropStatements(id), Date.now() + tools.databases.requestMs);
      break;
    case "finish":
      await tools.table.write({ removal: Removal.delete({ id }) });
      return { done };
  }
  await tools.table.write({ removal: Removal.update({ id }, { set: { leaseUntil } }, { id }) });
  return { done };
});
