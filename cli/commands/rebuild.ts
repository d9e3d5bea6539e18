import { randomUUID } from "node:crypto";
import { type Context, command, serviceOptions } from "../command.ts";
import { openTarget, type Target } from "../configuration.ts";
import { cancelOnFailure } from "../deploy-archive.ts";
import { followBuild, reportOutcome } from "../follow-build.ts";

/** `slipway rebuild`: the way to apply changed variables. */
export const rebuild = command({
  options: serviceOptions,
  run: async (args, context) => {
    const target = await openTarget(args, context);
    const { build } = await target.client.rebuild(target.project, { idempotencyKey: randomUUID() });
    return follow(target, build.id, args.flag("json"), context);
  },
});

/** `slipway redeploy <build>`: builds and deploys an earlier source again. */
export const redeploy = command({
  operands: { shown: "<build-id>", min: 1, max: 1 },
  options: serviceOptions,
  run: async (args, context) => {
    const target = await openTarget(args, context);
    const [buildId = ""] = args.operands;
    const { build } = await target.client.redeployBuild(
      { ...target.project, buildId },
      { idempotencyKey: randomUUID() },
    );
    return follow(target, build.id, args.flag("json"), context);
  },
});

async function follow(target: Target, buildId: string, json: boolean, context: Context): Promise<number> {
  const { terminal, signal } = context;
  const startedAt = performance.now();
  terminal.note(`Build ${buildId}.`);
  const followed = await cancelOnFailure(target, buildId, context, (sent) => {
    // Nothing is uploaded.
    sent();
    return followBuild(target, buildId, terminal, signal);
  });
  return reportOutcome(target, followed, { terminal, json, startedAt });
}
