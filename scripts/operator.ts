import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { LambdaClientConfig } from "@aws-sdk/client-lambda";
import * as z from "zod";
import { migrateAll } from "../lambdas/operator/migrate-all.ts";

type Failure = { status: string; message: string; code: string };

function fail(error: Failure): never {
  process.stderr.write(`${JSON.stringify(error)}\n`);
  process.exit(1);
}

const badRequest = (message: string): never => fail({ status: "Bad Request", message, code: "invalid_request" });

/** The operator function of the local service, found through the runtime.json file of the running service. */
function localTarget(): { config: LambdaClientConfig; functionName: string } {
  const file = join(process.env.SLIPWAY_HOME ?? ".slipway", "runtime.json");
  try {
    const runtime = z
      .object({ awsEndpoint: z.string(), accessKeyId: z.string(), secretAccessKey: z.string() })
      .parse(JSON.parse(readFileSync(file, "utf8")));
    const { awsEndpoint: endpoint, ...credentials } = runtime;
    return {
      config: { endpoint, region: "us-east-1", credentials, maxAttempts: 1 },
      functionName: "operator",
    };
  } catch {
    return fail({
      status: "Service Unavailable",
      message: `${file} does not exist or is damaged. Start the local service with npm start.`,
      code: "unavailable",
    });
  }
}

const usage = "Usage: npm run --silent operator -- <command> '<json>' [--stack NAME]";

function readArguments() {
  try {
    const options = { stack: { type: "string" }, region: { type: "string" } } as const;
    return parseArgs({ allowPositionals: true, options });
  } catch (error) {
    return badRequest(`${error instanceof Error ? error.message : String(error)}. ${usage}`);
  }
}

async function main(): Promise<void> {
  const { values, positionals } = readArguments();
  const [command, json = "{}", ...rest] = positionals;
  if (!command || rest.length > 0) return badRequest(usage);
  let input: unknown;
  try {
    input = JSON.parse(json);
  } catch {
    return badRequest("The input must be valid JSON");
  }
  const { config, functionName } = values.stack
    ? { config: { ...(values.region && { region: values.region }) }, functionName: `${values.stack}-operator` }
    : localTarget();
  // Loaded after the arguments have been checked, so that a mistake is reported at once.
  const [{ LambdaClient }, { invokeOperator, OperatorRefusal }] = await Promise.all([
    import("@aws-sdk/client-lambda"),
    import("./aws/invoke-operator.ts"),
  ]);
  const client = new LambdaClient(config);
  try {
    const invoke = (given: unknown) => invokeOperator(client, functionName, command, given);
    const output = command === "migrate" ? await migrateAll(invoke) : await invoke(input);
    process.stdout.write(`${JSON.stringify(output)}\n`);
  } catch (error) {
    if (error instanceof OperatorRefusal) return fail(error.refusal);
    throw error;
  }
}

main().catch((error: unknown) => {
  const message = error instanceof Error ? error.message : String(error);
  fail({
    status: "Service Unavailable",
    message: `The operator function could not be reached: ${message}`,
    code: "unavailable",
  });
});
