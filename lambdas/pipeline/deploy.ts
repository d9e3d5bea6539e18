import { advance } from "../data/builds.ts";
import { Addresses, Build } from "../data/rows.ts";
import { BuildCanceled, step } from "../kit/step.ts";
import { buildOf } from "../kit/tools/apps.ts";

/**
 * building → deploying. What serves now is recorded in the very write that sets the status: read later, a retried step
 * would take the new version for the previous one and roll back to it.
 */
export const handler = step("deploy", async ({ deployment, image }, { table, apps, deployer, traffic }) => {
  const { projectId, buildId } = deployment;
  const since = new Date();
  const [item] = await table.get([Build.key({ projectId, id: buildId })]);
  let build = Build.maybe(item);
  if (build?.status === "building") {
    const running = await traffic.newest(projectId);
    if (running && /^(PENDING|IN_PROGRESS|.*_REQUESTED|ROLLBACK_IN_PROGRESS)$/.test(running.status))
      return { waiting: true as const };
    const [live, taskDefinition] = await Promise.all([
      apps.live(projectId),
      deployer.register({ buildId, digest: image.digest, port: image.port }),
    ]);
    const previous = live === null ? null : { taskDefinition: live, buildId: buildOf(live) };
    const warning = [build.warning, image.warning].filter(Boolean).join("\n") || null;
    const set = { taskDefinition, previous, warning, buildLog: image.log };
    const step = await advance(table, deployment, "building", "deploying", set, new Date());
    build = step.won ? { ...build, ...set, status: "deploying" } : step.build;
  }
  if (build?.status !== "deploying" || !build.taskDefinition) throw new BuildCanceled();
  if ((await apps.live(projectId)) !== build.taskDefinition) await deployer.apply(projectId, build.taskDefinition);
  const [started, address] = await Promise.all([traffic.newest(projectId), apps.address(projectId)]);
  if (!started) throw new Error("The container service started no deployment");
  if (address !== undefined) await table.write([Addresses.update({ projectId }, { set: { url: address } })]);
  return { waiting: false as const, serviceDeploymentArn: started.arn, since: since.toISOString() };
});
