import { endReady } from "../builds/model/transitions.ts";
import { step } from "../http/step.ts";

/** deploying → ready, live and unlocked in one transaction, after the swap has been confirmed. */
export const handler = step("finish", async ({ deployment, ready }, { table }) => {
  const ended = await endReady(table, deployment, ready, new Date());
  if (!ended) throw new Error("The build could not be ended as ready");
  return {};
});
