import * as z from "zod";
import { AwsError, type Operation, operation } from "../../aws/service.ts";
import type { Engine } from "../interpreter/engine.ts";
import type { TokenState } from "../interpreter/task-token.ts";
import { isPayload } from "./lookup.ts";

function tokenAnswer(state: TokenState): object {
  switch (state) {
    case "accepted":
      return {};
    case "unknown":
      throw new AwsError("InvalidToken", "Invalid Token: 'Invalid token'");
    case "missing":
      throw new AwsError("TaskDoesNotExist", "Task does not exist");
    case "closed":
      throw new AwsError("TaskTimedOut", "Task Timed Out: 'Provided task does not exist anymore'");
  }
}

/** SendTaskSuccess, SendTaskFailure and SendTaskHeartbeat. */
export function taskOperations(engine: Engine): Record<string, Operation> {
  const taskToken = z.string().min(1).max(2_048);
  const failure = z.object({
    taskToken,
    error: z.string().max(256).optional(),
    cause: z.string().max(32_768).optional(),
  });
  return {
    SendTaskSuccess: operation(z.object({ taskToken, output: z.string() }), ({ taskToken, output }) => {
      if (!isPayload(output)) {
        throw new AwsError("InvalidOutput", "Invalid Output: not JSON, or longer than 262144 bytes");
      }
      return tokenAnswer(engine.answer(taskToken, { output: JSON.parse(output) }));
    }),
    SendTaskFailure: operation(failure, ({ taskToken, error = null, cause }) =>
      tokenAnswer(engine.answer(taskToken, { error, ...(cause === undefined ? {} : { cause }) })),
    ),
    SendTaskHeartbeat: operation(z.object({ taskToken }), ({ taskToken }) => tokenAnswer(engine.heartbeat(taskToken))),
  };
}
