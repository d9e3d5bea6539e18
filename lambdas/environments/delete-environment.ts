import { deleteEnvironment } from "../../api/environments.ts";
import { endpoint } from "../http/endpoint.ts";
import { notFound } from "../http/problem.ts";
import { retryConflicts } from "../http/retry.ts";
import { Variable, VariableName } from "./model/rows.ts";
import { addToTotals, bytesOf, checkTotals } from "./model/totals.ts";

export const handler = endpoint(
  deleteEnvironment,
  async ({ params, access }, { table }) => {
    const { projectId } = params;
    const id = { projectId, id: params.envId };
    return retryConflicts("The variable", async () => {
      const { stored } = await access.read({ stored: Variable.at(id) });
      if (!stored) throw notFound();
      const removed = { count: -1, bytes: -bytesOf(stored) };
      const outcome = await access.commit({
        // The bytes to subtract are those of the version that was read.
        variable: Variable.delete(id, { name: stored.name, updatedAt: stored.updatedAt }),
        name: VariableName.delete({ projectId, name: stored.name }),
        totals: addToTotals(projectId, removed),
      });
      if (outcome.ok) return { environment: stored.id };
      await checkTotals(table, projectId, outcome.failed.totals?.old, removed);
      return undefined;
    });
  },
  { exists: ({ projectId, envId }) => ({ variable: Variable.at({ projectId, id: envId }) }) },
);
