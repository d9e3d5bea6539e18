import { command, serviceOptions } from "../command.ts";
import { openTarget } from "../configuration.ts";
import { adviceOf } from "../follow-build.ts";
import { newestBuild } from "../newest-build.ts";
import { bytesText, columnsText, printable } from "../terminal.ts";

/** `slipway status [build]`: everything about one build. */
export const status = command({
  operands: { shown: "[build-id]", min: 0, max: 1 },
  options: serviceOptions,
  run: async (args, context) => {
    const target = await openTarget(args, context);
    const buildId = args.operands[0] ?? (await newestBuild(target));
    const { build } = await target.client.getBuild({ ...target.project, buildId });
    const { terminal } = context;
    if (args.flag("json")) {
      terminal.result(JSON.stringify(build));
      return 0;
    }
    const rows = [
      ["build", build.id],
      ["status", build.canceledAt === null ? build.status : `${build.status}, canceled at ${build.canceledAt}`],
      ["live", build.isLive ? "yes" : "no"],
      ["runtime", build.runtime ?? ""],
      ["size", build.size === null ? "" : bytesText(build.size)],
      ["title", printable(build.title ?? "")],
      ["created", build.createdAt],
      ["error", printable(build.error?.replaceAll("\n", " ") ?? "")],
    ];
    for (const line of columnsText(rows.filter(([, value]) => value !== ""))) terminal.result(line);
    for (const line of adviceOf(build)) terminal.result(line);
    return 0;
  },
});
