import { command, serviceOptions } from "../command.ts";
import { openTarget } from "../configuration.ts";
import { newestBuild } from "../newest-build.ts";

/** `slipway cancel [build]`: ends a build and frees the project. */
export const cancel = command({
  operands: { shown: "[build-id]", min: 0, max: 1 },
  options: serviceOptions,
  run: async (args, context) => {
    const target = await openTarget(args, context);
    const buildId = args.operands[0] ?? (await newestBuild(target));
    const { build } = await target.client.cancelBuild({ ...target.project, buildId });
    if (args.flag("json")) context.terminal.result(JSON.stringify(build));
    else context.terminal.note(`Canceled build ${build.id}, which was ${build.status}.`);
    return 0;
  },
});
