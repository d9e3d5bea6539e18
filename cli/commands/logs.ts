import { sleepFor } from "../../sdk/retry.ts";
import { isFinished } from "../../sdk/wait-for-build.ts";
import { command, serviceOptions } from "../command.ts";
import { openTarget, type Target } from "../configuration.ts";
import { type LogLine, LogReader } from "../log-reader.ts";
import { newestBuild } from "../newest-build.ts";
import { printable } from "../terminal.ts";

const followSeconds = 1;

/** `slipway logs [build]`: the output of the build and of the app's start. */
export const logs = command({
  operands: { shown: "[build-id]", min: 0, max: 1 },
  options: { follow: { type: "boolean", describe: "keep printing until the build is finished" }, ...serviceOptions },
  run: async (args, context) => {
    const { terminal, signal } = context;
    const target = await openTarget(args, context);
    const buildId = args.operands[0] ?? (await newestBuild(target));
    const reader = new LogReader(target, buildId);
    const show = (line: LogLine) =>
      args.flag("json") ? JSON.stringify(line) : `${line.at} ${line.stage.padEnd(9)} ${printable(line.text)}`;
    while (true) {
      // The status is read before the lines, so that the lines of a finished build are complete.
      const isLast = !args.flag("follow") || (await isOver(target, buildId));
      for await (const line of reader.newLines()) terminal.result(show(line));
      if (isLast) return 0;
      await sleepFor(followSeconds, signal);
    }
  },
});

async function isOver({ client, project }: Target, buildId: string): Promise<boolean> {
  const { build } = await client.getBuild({ ...project, buildId });
  return isFinished(build);
}
