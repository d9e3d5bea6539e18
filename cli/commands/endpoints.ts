import { spawn } from "node:child_process";
import { command, serviceOptions } from "../command.ts";
import { openTarget } from "../configuration.ts";
import { Failure } from "../failure.ts";

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

/** The program of each platform that opens an address. */
const openers: Partial<Record<NodeJS.Platform, [program: string, ...args: string[]]>> = {
  darwin: ["open"],
  win32: ["cmd", "/c", "start", ""],
  linux: ["xdg-open"],
};

/** Opens an address in the user's browser; false if no program does that. */
export function openInBrowser(address: string): Promise<boolean> {
  const [program, ...args] = openers[process.platform] ?? ["xdg-open"];
  return new Promise((resolve) => {
    const child = spawn(program, [...args, address], { stdio: "ignore", detached: true });
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}

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
