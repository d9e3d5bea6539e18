import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import * as z from "zod";
import { command, serviceOptions } from "../command.ts";
import { openService } from "../configuration.ts";
import { consolePage } from "../console-page.ts";
import { Failure } from "../failure.ts";
import { hasDisplay, openInBrowser } from "../open-in-browser.ts";

const linkSchema = z.object({ url: z.url(), expiresAt: z.string() });
/** Missing in the installed package, which cannot run operator commands. */
const operator = fileURLToPath(new URL("../../scripts/operator.ts", import.meta.url));

/** Runs the operator command, which reaches the local service through the files of its home. */
async function newLink(home: string, token: string): Promise<z.output<typeof linkSchema>> {
  // A personal access token begins with its user's id.
  const input = JSON.stringify({ userId: `usr_${token.slice(4, 30)}` });
  const run = promisify(execFile);
  try {
    const { stdout } = await run(process.execPath, [operator, "create-sign-in-link", input], {
      env: { ...process.env, SLIPWAY_HOME: home },
    });
    return linkSchema.parse(JSON.parse(stdout));
  } catch (cause) {
    throw new Failure("The local service does not answer. Start it with npm start.", { cause });
  }
}

/** `slipway console`: the console of the service; of the local service, by a new link that signs in. */
export const openConsole = command({
  options: { url: serviceOptions.url, profile: serviceOptions.profile, json: serviceOptions.json },
  run: async (args, context) => {
    const { environment, terminal, workingFolder } = context;
    const { baseUrl, local } = openService(args, context, "user");
    const home = resolve(workingFolder, environment.SLIPWAY_HOME || ".slipway");
    const link =
      local.token !== undefined && existsSync(operator)
        ? await newLink(home, local.token)
        : { url: consolePage(baseUrl).href };
    terminal.result(args.flag("json") ? JSON.stringify(link) : link.url);
    if (args.flag("json") || !hasDisplay(environment, process.platform)) return 0;
    if (!(await openInBrowser(link.url))) terminal.note("No browser could be started; open the address yourself.");
    return 0;
  },
});
