import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { command, serviceOptions } from "../command.ts";
import { openTarget } from "../configuration.ts";
import { checkTarget } from "../explain.ts";

/** `slipway link`: the project of a folder, and of the folders below it; it holds no credential. */
export const link = command({
  details: "Commands that run in the folder or below it then use this project. The file holds no credential.",
  options: serviceOptions,
  run: async (args, context) => {
    const target = await openTarget(args, context);
    await checkTarget(target);
    const { orgId, projectId } = target.project;
    const folder = join(context.workingFolder, ".slipway");
    mkdirSync(folder, { recursive: true });
    const file = join(folder, "project.json");
    const linked = { baseUrl: target.baseUrl, organizationId: orgId, projectId };
    writeFileSync(file, `${JSON.stringify(linked, null, 2)}\n`);
    if (args.flag("json")) context.terminal.result(JSON.stringify(linked));
    else context.terminal.note(`Linked ${context.workingFolder} to project ${projectId} at ${target.baseUrl}.`);
    return 0;
  },
});
