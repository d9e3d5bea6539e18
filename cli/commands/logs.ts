import { sleepFor } from "../../sdk/retry.ts";
import { isFinished } from "../../sdk/wait-for-build.ts";
import { appOutput } from "../app-output.ts";
import { type Arguments, type Context, command, serviceOptions } from "../command.ts";
import { openTarget, type Target } from "../configuration.ts";
import { UsageError } from "../failure.ts";
import { type LogLine, LogReader } from "../log-reader.ts";
import { newestBuild } from "../newest-build.ts";
import { printable } from "../terminal.ts";

const followSeconds = 1;

const options = {
  app: { type: "boolean", describe: "print what the running app writes, instead of the build's output" },
  follow: { type: "boolean", describe: "keep printing: until the build is finished, or until Ctrl-C with --app" },
  search: { type: "string", value: "text", describe: "only lines that contain this text, in any case" },
  since: { type: "string", value: "time", describe: "with --app: only lines since this time, 2026-11-20T01:02:03Z" },
  lines: { type: "string", value: "number", describe: "with --app: how many lines to begin with (default: 100)" },
  ...serviceOptions,
} as const;
type Given = Arguments<keyof typeof options>;

/** `slipway logs [build]`: the output of the build and of the app's start, or of the running app. */
export const logs = command({
  operands: { shown: "[build-id]", min: 0, max: 1 },
  options,
  run: async (args, context) => {
    const target = await openTarget(args, context);
    return args.flag("app") ? printApp(args, target, context) : printBuild(args, target, context);
  },
});

async function printApp(args: Given, target: Target, { terminal, signal }: Context): Promise<number> {
  const limit = Number(args.text("lines") ?? 100);
  if (!Number.isInteger(limit) || limit < 1 || limit > 1000)
    throw new UsageError("--lines must be a number from 1 to 1000.");
  const [buildId] = args.operands;
  const filters = { limit, text: args.text("search"), since: args.text("since"), buildId };
  for await (const line of appOutput(target, filters, args.flag("follow"), signal)) {
    terminal.result(
      args.flag("json") ? JSON.stringify(line) : `${line.at} ${printable(line.instance)} ${printable(line.text)}`,
    );
  }
  return 0;
}

async function printBuild(args: Given, target: Target, { terminal, signal }: Context): Promise<number> {
  for (const name of ["since", "lines"] as const)
    if (args.text(name) !== undefined) throw new UsageError(`--${name} needs --app.`);
  const wanted = args.text("search")?.toLowerCase() ?? "";
  const buildId = args.operands[0] ?? (await newestBuild(target));
  const reader = new LogReader(target, buildId);
  const show = (line: LogLine) =>
    args.flag("json") ? JSON.stringify(line) : `${line.at} ${line.stage.padEnd(9)} ${printable(line.text)}`;
  while (true) {
    // The status is read before the lines, so that the lines of a finished build are complete.
    const isLast = !args.flag("follow") || (await isOver(target, buildId));
    for await (const line of reader.newLines())
      if (line.text.toLowerCase().includes(wanted)) terminal.result(show(line));
    if (isLast) return 0;
    await sleepFor(followSeconds, signal);
  }
}

async function isOver({ client, project }: Target, buildId: string): Promise<boolean> {
  const { build } = await client.getBuild({ ...project, buildId });
  return isFinished(build);
}
