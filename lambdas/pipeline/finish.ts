import { endReady } from "../data/builds.ts";
import { step } from "../kit/step.ts";

/** deploying → ready, live and unlocked in one transaction, after the swap has been confirmed. */
export const handler = step("finish", async ({ deployment, warning, appLog }, { table }) => {
  const ended = await endReady(table, deployment, { warning, appLog }, new Date());
  if (!ended) throw new Error("The build could not be ended as ready");
  return {};
});
