import { updateEnvironment } from "../../api/environments.ts";
import { endpoint } from "../http/endpoint.ts";
import { notFound } from "../http/problem.ts";
import { retryConflicts } from "../http/retry.ts";
import { absent } from "../table/entity.ts";
import { Variable, VariableName } from "./model/rows.ts";
import { addToTotals, bytesOf, checkTotals } from "./model/totals.ts";
import { nameTaken } from "./model/variables.ts";

/** Always later than before: two changes in one millisecond must differ for the condition below. */
function laterThan(updatedAt: string, now: Date): string {
  return new Date(Math.max(now.getTime(), Date.parse(updatedAt) + 1)).toISOString();
}

export const handler = endpoint(
  updateEnvironment,
  async ({ params, body, access, now }, { table }) => {
    const { projectId } = params;
    const id = { projectId, id: params.envId };
    return retryConflicts("The variable", async () => {
      const { stored } = await access.read({ stored: Variable.at(id) });
      if (!stored) throw notFound();
      const environment = {
        ...stored,
        name: body.name ?? stored.name,
        value: body.value ?? stored.value,
        updatedAt: laterThan(stored.updatedAt, now),
      };
      const renamed = environment.name !== stored.name && {
        newName: VariableName.put({ projectId, name: environment.name }, { id: stored.id }, { pk: absent }),
        oldName: VariableName.delete({ projectId, name: stored.name }),
      };
      const added = { count: 0, bytes: bytesOf(environment) - bytesOf(stored) };
      const outcome = await access.commit({
        variable: Variable.put(id, environment, { name: stored.name, updatedAt: stored.updatedAt }),
        // If the size stays the same, the totals are not written, so that this write does not conflict with others in the project.
        totals: added.bytes === 0 ? undefined : addToTotals(projectId, added),
        ...renamed,
      });
      if (outcome.ok) return { environment };
      // If the variable itself has changed, that change may have taken the name, so it is read again.
      if (outcome.failed.variable) return undefined;
      if (outcome.failed.newName) throw nameTaken(environment.name);
      await checkTotals(table, projectId, outcome.failed.totals?.old, added);
      return undefined;
    });
  },
  { exists: ({ projectId, envId }) => ({ variable: Variable.at({ projectId, id: envId }) }) },
);
