import { command, serviceOptions } from "../command.ts";
import { openTarget } from "../configuration.ts";
import { UsageError } from "../failure.ts";
import { columnsText, printable } from "../terminal.ts";

/** `slipway builds`: the newest builds of the project. */
export const builds = command({
  options: {
    limit: { type: "string", value: "number", describe: "how many, 1 to 100 (default 20)" },
    ...serviceOptions,
  },
  run: async (args, context) => {
    const limit = Number(args.text("limit") ?? 20);
    if (!Number.isInteger(limit) || limit < 1 || limit > 100)
      throw new UsageError("--limit must be a number from 1 to 100.");
    const { client, project } = await openTarget(args, context);
    const reply = await client.listBuilds({ ...project, limit });
    const { terminal } = context;
    if (args.flag("json")) {
      terminal.result(JSON.stringify(reply));
      return 0;
    }
    if (reply.builds.length === 0) terminal.note("No build yet. Create one with: slipway deploy <folder>");
    const rows = reply.builds.map((build) => [
      build.id,
      build.status,
      build.isLive && (build.status === "ready" || build.status === "error") ? "live" : "",
      build.runtime ?? "",
      build.createdAt,
      printable(build.title ?? ""),
    ]);
    for (const line of columnsText(rows)) terminal.result(line);
    if (reply.redeployAvailability.status === "temporarily_unavailable") {
      terminal.note("The service could not determine which build is live. Try again in a few seconds.", "yellow");
    }
    return 0;
  },
});
