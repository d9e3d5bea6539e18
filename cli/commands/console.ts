import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import * as z from "zod";
import { command } from "../command.ts";
import { Failure } from "../failure.ts";

/** A personal access token begins with its user's id. */
const localFile = z.object({ token: z.string().regex(/^slp_[0-9a-z]{52,}$/) });
const linkSchema = z.object({ url: z.url(), expiresAt: z.string() });
const operator = fileURLToPath(new URL("../../scripts/operator.ts", import.meta.url));

function seededUser(file: string): string {
  try {
    return `usr_${localFile.parse(JSON.parse(readFileSync(file, "utf8"))).token.slice(4, 30)}`;
  } catch (cause) {
    throw new Failure(
      `${file} does not exist or names no user. Start the local service with npm start; for a deployed stack, use the operator command create-sign-in-link.`,
      { cause },
    );
  }
}

/** Runs the operator command, which reaches the local service through the files of its home. */
async function newLink(home: string): Promise<z.output<typeof linkSchema>> {
  const input = JSON.stringify({ userId: seededUser(resolve(home, "local.json")) });
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

/** `slipway console`: a new one-time link to the local console. */
export const openConsole = command({
  options: { json: { type: "boolean", describe: "print JSON" } },
  run: async (args, { environment, terminal, workingFolder }) => {
    const link = await newLink(resolve(workingFolder, environment.SLIPWAY_HOME || ".slipway"));
    terminal.result(args.flag("json") ? JSON.stringify(link) : link.url);
    return 0;
  },
});
