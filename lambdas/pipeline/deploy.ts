import { type AppDeployer, type AppReader, buildOf } from "../aws/apps.ts";
import { Addresses, Build, type BuildRow } from "../builds/model/rows.ts";
import { advance } from "../builds/model/transitions.ts";
import { BuildCanceled, step } from "../http/step.ts";

const moving = /^(PENDING|IN_PROGRESS|.*_REQUESTED|ROLLBACK_IN_PROGRESS)$/;

/** What the new version runs as, what serves now, and what the image build said. */
async function prepared(
  build: BuildRow,
  image: { digest: string; log: string; warning: string | null; port: number },
  tools: { apps: AppReader; deployer: AppDeployer },
): Promise<Partial<BuildRow>> {
  const [live, taskDefinition] = await Promise.all([
    tools.apps.live(build.projectId),
    tools.deployer.register({
      projectId: build.projectId,
      buildId: build.id,
      digest: image.digest,
      port: image.port,
    }),
  ]);
  const previous = live === null ? null : { taskDefinition: live, buildId: buildOf(live) };
  const warning = [build.warning, image.warning].filter(Boolean).join("\n") || null;
  return { taskDefinition, previous, warning, buildLog: image.log };
}

/**
 * building → deploying. What serves now is recorded in the very write that sets the status: read later, a retried step
 * would take the new version for the previous one and roll back to it.
 */
export const handler = step("deploy", async ({ deployment, image }, { table, apps, deployer, rollouts }) => {
  const { projectId, buildId } = deployment;
  const since = new Date().toISOString();
  const stored = await table.read({
    build: Build.at({ projectId, id: buildId }),
    addresses: Addresses.at({ projectId }),
  });
  let { build } = stored;
  let isRepeated = true;
  if (build?.status === "building") {
    const [newest, set] = await Promise.all([
      rollouts.newestInBrief(projectId),
      prepared(build, image, { apps, deployer }),
    ]);
    if (newest && moving.test(newest.status)) return { waiting: true as const };
    const advanced = await advance(table, deployment, "building", "deploying", set, new Date());
    build = advanced.won ? { ...build, ...set, status: "deploying" } : advanced.build;
    isRepeated = !advanced.won;
  }
  if (build?.status !== "deploying" || !build.taskDefinition) throw new BuildCanceled();
  const isApplied = isRepeated && (await apps.live(projectId)) === build.taskDefinition;
  if (!isApplied) await deployer.apply(projectId, build.taskDefinition);
  const known = stored.addresses?.url;
  const [started, url] = await Promise.all([rollouts.newestInBrief(projectId), known ?? apps.address(projectId)]);
  if (!started) throw new Error("The container service started no deployment");
  if (url !== known) await table.write({ addresses: Addresses.update({ projectId }, { set: { url } }) });
  return { waiting: false as const, serviceDeploymentArn: started.arn, url: url ?? null, since };
});
