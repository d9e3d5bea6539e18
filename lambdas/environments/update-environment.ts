import { updateEnvironment } from "../../api/environments.ts";
import { endpoint } from "../http/endpoint.ts";
import { notFound, unavailable } from "../http/problem.ts";
import { absent } from "../table/entity.ts";
import { Variable, VariableName } from "./model/rows.ts";
import { nameTaken } from "./model/variables.ts";

const triesMax = 5;

/** Always later than before: two changes in one millisecond must not look like the same one to the condition below. */
function laterThan(updatedAt: string, now: Date): string {
  return new Date(Math.max(now.getTime(), Date.parse(updatedAt) + 1)).toISOString();
}

export const handler = endpoint(
  updateEnvironment,
  async ({ params, body, access, now }) => {
    const id = { projectId: params.projectId, id: params.envId };
    for (let tries = 0; tries < triesMax; tries += 1) {
      const { rows } = await access.read(Variable.key(id));
      const stored = Variable.maybe(rows[0]);
      if (!stored) throw notFound();
      const environment = {
        ...stored,
        name: body.name ?? stored.name,
        value: body.value ?? stored.value,
        updatedAt: laterThan(stored.updatedAt, now),
      };
      const renamed = environment.name !== stored.name;
      const outcome = await access.commit([
        Variable.put(id, environment, { name: stored.name, updatedAt: stored.updatedAt }),
        ...(renamed
          ? [
              VariableName.put(
                { projectId: params.projectId, name: environment.name },
                { id: stored.id },
                { pk: absent },
              ),
              VariableName.delete({ projectId: params.projectId, name: stored.name }),
            ]
          : []),
      ]);
      if (outcome.ok) return { environment };
      // When the variable itself has changed, the name may be taken by that very change: look again.
      if (outcome.failed.has(1) && !outcome.failed.has(0)) throw nameTaken(environment.name);
    }
    throw unavailable(new Error("The variable kept changing"));
  },
  { exists: ({ projectId, envId }) => [Variable.key({ projectId, id: envId })] },
);
