import { createEnvironment } from "../../api/environments.ts";
import { endpoint } from "../http/endpoint.ts";
import { retryConflicts } from "../http/retry.ts";
import { absent } from "../table/entity.ts";
import { newId } from "../table/ids.ts";
import { Variable, VariableName } from "./model/rows.ts";
import { addToTotals, bytesOf, checkTotals } from "./model/totals.ts";
import { nameTaken } from "./model/variables.ts";

export const handler = endpoint(createEnvironment, async ({ params, body, access, now }, { table }) => {
  const { projectId } = params;
  const id = newId("env", now);
  const at = now.toISOString();
  const environment = { id, name: body.name, value: body.value, createdAt: at, updatedAt: at };
  const added = { count: 1, bytes: bytesOf(environment) };
  return retryConflicts("The project's variables", async () => {
    const outcome = await access.commit(
      {
        name: VariableName.put({ projectId, name: body.name }, { id }, { pk: absent }),
        totals: addToTotals(projectId, added),
        variable: Variable.put({ projectId, id }, environment, { pk: absent }),
      },
      { environment },
    );
    if (outcome.ok) return { environment };
    if (outcome.failed.name) throw nameTaken(body.name);
    await checkTotals(table, projectId, outcome.failed.totals?.old, added);
    return undefined;
  });
});
