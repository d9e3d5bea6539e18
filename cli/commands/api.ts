import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { type Context, command, serviceOptions } from "../command.ts";
import { openService } from "../configuration.ts";
import { UsageError } from "../failure.ts";
import { callRaw } from "../raw-call.ts";

const { url, profile } = serviceOptions;
const methods = ["GET", "POST", "PUT", "DELETE"];

async function bodyOf(given: string | undefined, { stdin, workingFolder }: Context): Promise<string | undefined> {
  if (given === "-") return text(stdin);
  return given?.startsWith("@") ? readFileSync(resolve(workingFolder, given.slice(1)), "utf8") : given;
}

/** `slipway api <method> <path>`: any request; the exit code is 0 for a success and 1 for a refusal, which is printed as well. */
export const api = command({
  operands: { shown: "<method> <path>", min: 2, max: 2 },
  options: {
    data: { type: "string", value: "json", describe: "the body; @file reads a file, - standard input" },
    url,
    profile,
  },
  run: async (args, context) => {
    const [method = "", path = ""] = args.operands;
    if (!methods.includes(method.toUpperCase()))
      throw new UsageError(`The method must be one of ${methods.join(", ")}.`);
    if (!path.startsWith("/")) throw new UsageError("The path must start with a slash, such as /organizations.");
    const service = openService(args, context);
    const body = await bodyOf(args.text("data"), context);
    const answer = await callRaw(service, { method: method.toUpperCase(), path, body, signal: context.signal });
    context.terminal.result(answer.text);
    return answer.ok ? 0 : 1;
  },
});
