import { GetFunctionConfigurationCommand, LambdaClient, ResourceNotFoundException } from "@aws-sdk/client-lambda";

/** A deployed stack as its functions' variables tell it: which address, cluster, buckets and images are its own. */
export interface Deployed {
  stack: string;
  apiAddress: string;
  cluster: string;
  stateMachineArn: string;
  buckets: string[];
  /** What the names of its projects' image repositories begin with, up to the slash. */
  repositoryPrefix: string;
  /** Whether it was deployed with databases. */
  database: "aurora" | "none";
}

/** A function's variables; `undefined` when there is no such function. */
async function variablesOf(lambda: LambdaClient, name: string): Promise<Record<string, string> | undefined> {
  try {
    const { Environment } = await lambda.send(new GetFunctionConfigurationCommand({ FunctionName: name }));
    return Environment?.Variables ?? {};
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
}

/** Finds a deployed stack; an error says what to check when there is none. */
export async function findDeployed(stack: string, lambda = new LambdaClient()): Promise<Deployed> {
  const functions = [
    "create-session",
    "deploy",
    "create-build",
    "analyze",
    "create-files",
    "grant-build-access",
    "list-tables",
  ];
  const found = await Promise.all(functions.map((id) => variablesOf(lambda, `${stack}-${id}`)));
  const variables: Record<string, string> = Object.assign({}, ...found);
  const value = (name: string): string => {
    const text = variables[name];
    if (text) return text;
    throw new Error(
      `No stack "${stack}" is deployed in this account and region. Check the name, AWS_PROFILE and AWS_REGION.`,
    );
  };
  return {
    stack,
    apiAddress: `https://${value("SERVICE_HOST")}`,
    cluster: value("CLUSTER_NAME"),
    stateMachineArn: value("STATE_MACHINE_ARN"),
    buckets: [value("ARCHIVES_BUCKET"), value("ARTIFACTS_BUCKET"), value("FILES_BUCKET")],
    repositoryPrefix: value("IMAGE_REPOSITORIES").replace(/^.*:repository\//, ""),
    database: found.at(-1) === undefined ? "none" : "aurora",
  };
}
