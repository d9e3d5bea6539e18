import { command, serviceOptions } from "../command.ts";
import { openTarget } from "../configuration.ts";
import { Failure } from "../failure.ts";
import { openInBrowser } from "../open-in-browser.ts";

/** `slipway endpoints`: the addresses of the project. */
export const endpoints = command({
  options: serviceOptions,
  run: async (args, context) => {
    const { client, project } = await openTarget(args, context);
    const reply = await client.listEndpoints(project);
    if (args.flag("json")) context.terminal.result(JSON.stringify(reply));
    else for (const endpoint of reply.endpoints) context.terminal.result(endpoint);
    return 0;
  },
});

/** `slipway open`: the project's own address. */
export const openApp = command({
  options: serviceOptions,
  run: async (args, context) => {
    const { client, project } = await openTarget(args, context);
    const [address] = (await client.listEndpoints(project)).endpoints;
    if (address === undefined)
      throw new Failure("The project has no address yet. Deploy it with: slipway deploy <folder>");
    context.terminal.result(address);
    if (!(await openInBrowser(address)))
      context.terminal.note("No browser could be started; open the address yourself.");
    return 0;
  },
});
