import { deleteEnvironment } from "../../api/environments.ts";
import { endpoint } from "../http/endpoint.ts";
import { notFound, unavailable } from "../http/problem.ts";
import { Variable, VariableCount, VariableName } from "./model/rows.ts";

const triesMax = 5;

export const handler = endpoint(deleteEnvironment, async ({ params, access }) => {
  const { projectId } = params;
  const id = { projectId, id: params.envId };
  for (let tries = 0; tries < triesMax; tries += 1) {
    const { stored } = await access.read({ stored: Variable.at(id) });
    if (!stored) throw notFound();
    const outcome = await access.commit({
      variable: Variable.delete(id, { name: stored.name }),
      name: VariableName.delete({ projectId, name: stored.name }),
      count: VariableCount.update({ projectId }, { add: { count: -1 } }),
    });
    if (outcome.ok) return { environment: stored.id };
  }
  throw unavailable(new Error("The variable kept changing"));
});
