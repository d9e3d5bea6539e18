import { createEnvironment } from "../../api/environments.ts";
import { limits } from "../../api/limits.ts";
import { endpoint } from "../http/endpoint.ts";
import { Problem } from "../http/problem.ts";
import { absent } from "../table/entity.ts";
import { newId } from "../table/ids.ts";
import { Variable, VariableCount, VariableName } from "./model/rows.ts";
import { nameTaken } from "./model/variables.ts";

export const handler = endpoint(createEnvironment, async ({ params, body, access, now }) => {
  const { projectId } = params;
  const id = newId("env", now);
  const at = now.toISOString();
  const environment = { id, name: body.name, value: body.value, createdAt: at, updatedAt: at };
  const outcome = await access.commit(
    {
      name: VariableName.put({ projectId, name: body.name }, { id }, { pk: absent }),
      count: VariableCount.update(
        { projectId },
        { add: { count: 1 } },
        { count: { is: "absentOrBelow", value: limits.variablesPerProjectMax } },
      ),
      variable: Variable.put({ projectId, id }, environment, { pk: absent }),
    },
    { environment },
  );
  if (outcome.ok) return { environment };
  if (outcome.failed.name) throw nameTaken(body.name);
  throw new Problem("limit_reached", `A project holds at most ${limits.variablesPerProjectMax} variables.`);
});
