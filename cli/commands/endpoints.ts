import { command, serviceOptions } from "../command.ts";
import { openTarget } from "../configuration.ts";

/** `slipway endpoints`: the addresses of the project. */
export const endpoints = command({
  name: "endpoints",
  summary: "Prints the addresses of the project, one a line.",
  options: serviceOptions,
  run: async (args, context) => {
    const { client, project } = await openTarget(args, context);
    const reply = await client.listEndpoints(project);
    if (args.flag("json")) context.terminal.result(JSON.stringify(reply));
    else for (const endpoint of reply.endpoints) context.terminal.result(endpoint);
    return 0;
  },
});
