import { InvokeCommand, type LambdaClient } from "@aws-sdk/client-lambda";
import * as z from "zod";

const refusal = z.object({ status: z.string(), message: z.string(), code: z.string() });
const answer = z.discriminatedUnion("ok", [
  z.object({ ok: z.literal(true), output: z.looseObject({}) }),
  z.object({ ok: z.literal(false), error: refusal }),
]);

/** The operator function refused a command (docs/api.md, Operator commands). */
export class OperatorRefusal extends Error {
  readonly refusal: z.infer<typeof refusal>;
  constructor(command: string, given: z.infer<typeof refusal>) {
    super(`${command}: ${given.message}`);
    this.refusal = given;
  }
}

/** The output of one operator command; throws `OperatorRefusal` if the function refuses it. */
export async function invokeOperator(
  lambda: LambdaClient,
  functionName: string,
  command: string,
  input: unknown,
): Promise<object> {
  const Payload = Buffer.from(JSON.stringify({ command, input }));
  const result = await lambda.send(new InvokeCommand({ FunctionName: functionName, Payload }));
  const reply = answer.parse(JSON.parse(Buffer.from(result.Payload ?? []).toString("utf8")));
  if (!reply.ok) throw new OperatorRefusal(command, reply.error);
  return reply.output;
}
