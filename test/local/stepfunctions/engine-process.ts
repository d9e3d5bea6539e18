import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startAwsServer } from "../../../local/aws/server.ts";
import { TaskError } from "../../../local/stepfunctions/interpreter/errors.ts";
import { createStepFunctions } from "../../../local/stepfunctions/server.ts";
import { testKeys } from "../../harness/signing.ts";

/** The process that the crash tests kill. Its functions record each call, then do what the mode of their execution says. */
const [dir = "", modes = ""] = process.argv.slice(2);
const modeOf: Record<string, string> = JSON.parse(modes);
const note = (line: object) => appendFileSync(join(dir, "calls.jsonl"), `${JSON.stringify(line)}\n`);
const stateMachines = JSON.parse(readFileSync(join(dir, "machines.json"), "utf8"));

const sfn = createStepFunctions({
  dir: join(dir, "states"),
  stateMachines,
  integrations: {
    async "arn:aws:states:::lambda:invoke"(args, { taskToken, executionArn }) {
      const { FunctionName, Payload } = args as { FunctionName: string; Payload: unknown };
      note({ FunctionName, Payload, taskToken, executionArn });
      const mode = modeOf[executionArn.split(":").at(-1) ?? ""];
      if (mode === "hang" || mode === `hang-${FunctionName}`) await new Promise(() => {});
      if (mode === "fail") throw new TaskError("Flaky");
      await sleep(FunctionName === "slow" ? 30 : 0);
      return { Payload };
    },
  },
  onStatusChange: async ({ id, detail }) => note({ event: detail.status, id, executionArn: detail.executionArn }),
});
const server = await startAwsServer({ json: [sfn.service], credentials: testKeys });
await sfn.resume();
process.stdout.write(`${server.endpoint}\n`);
process.stdin.resume();
process.stdin.once("end", () => process.exit(0));
