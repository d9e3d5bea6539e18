import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { CloudFormationClient } from "@aws-sdk/client-cloudformation";
import { ECRClient } from "@aws-sdk/client-ecr";
import { ECSClient } from "@aws-sdk/client-ecs";
import { LambdaClient } from "@aws-sdk/client-lambda";
import { S3Client } from "@aws-sdk/client-s3";
import { SFNClient } from "@aws-sdk/client-sfn";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { deployCommands, stackNameOf } from "../../scripts/aws/deploy-commands.ts";
import { findDeployed } from "../../scripts/aws/deployed.ts";
import { takeDown } from "../../scripts/aws/take-down.ts";

/** The simulated account: the parts of a stack that the scripts read. */
interface Account {
  status: string | undefined;
  resources: { type: string; id: string; status?: string }[];
  functions: Set<string>;
  /** The functions whose reserved concurrency is 0. */
  frozen: Set<string>;
  calls: string[];
}

const everyPart = [
  { type: "AWS::ApiGatewayV2::Api", id: "api1" },
  { type: "AWS::ECS::Cluster", id: "Slipway-Cluster" },
  {
    type: "AWS::StepFunctions::StateMachine",
    id: "arn:aws:states:us-east-1:000000000000:stateMachine:Slipway-deployment",
  },
  { type: "AWS::S3::Bucket", id: "slipway-archives" },
  { type: "AWS::S3::Bucket", id: "slipway-accesslogs" },
  { type: "AWS::RDS::DBCluster", id: "slipway-db" },
];
const starters = ["create-build", "rebuild", "redeploy-build", "reconcile-locks", "execution-ended"];
let account: Account;

beforeEach(() => {
  const functions = new Set(starters.map((id) => `Slipway-${id}`));
  account = { status: "UPDATE_COMPLETE", resources: [...everyPart], functions, frozen: new Set(), calls: [] };
});

function cloudFormation(form: URLSearchParams): [number, string] {
  const action = form.get("Action");
  if (account.status === undefined) {
    const message = `Stack with id ${form.get("StackName")} does not exist`;
    return [
      400,
      `<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>${message}</Message></Error></ErrorResponse>`,
    ];
  }
  const members =
    action === "DescribeStacks"
      ? `<Stacks><member><StackName>Slipway</StackName><StackStatus>${account.status}</StackStatus></member></Stacks>`
      : `<StackResourceSummaries>${account.resources
          .map(
            ({ type, id, status = "CREATE_COMPLETE" }) =>
              `<member><ResourceType>${type}</ResourceType><PhysicalResourceId>${id}</PhysicalResourceId><ResourceStatus>${status}</ResourceStatus></member>`,
          )
          .join("")}</StackResourceSummaries>`;
  return [200, `<${action}Response><${action}Result>${members}</${action}Result></${action}Response>`];
}

function concurrency(method: string, name: string): [number, string] {
  if (!account.functions.has(name)) return [404, JSON.stringify({ Type: "User", Message: "no function" })];
  if (method === "PUT") account.frozen.add(name);
  else account.frozen.delete(name);
  return [method === "PUT" ? 200 : 204, "{}"];
}

/** Starts an HTTP server that answers the AWS calls from the simulated account. */
async function startAws() {
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const target = String(request.headers["x-amz-target"] ?? "")
      .split(".")
      .at(-1);
    const [, name] = /^\/2017-10-31\/functions\/([^/]+)\/concurrency/.exec(request.url ?? "") ?? [];
    let answer: [number, string] = [200, "{}"];
    if (name !== undefined) {
      answer = concurrency(request.method ?? "", name);
      if (answer[0] === 404) response.setHeader("x-amzn-errortype", "ResourceNotFoundException");
    } else if (target) account.calls.push(target);
    else if (body.startsWith("Action=")) answer = cloudFormation(new URLSearchParams(body));
    else {
      account.calls.push(`empty ${request.url?.split("?")[0]}`);
      answer = [200, "<ListVersionsResult></ListVersionsResult>"];
    }
    response.writeHead(answer[0]).end(answer[1]);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const credentials = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret" };
  const options = { endpoint, region: "us-east-1", credentials, maxAttempts: 1 };
  const clients = {
    lambda: new LambdaClient(options),
    ecs: new ECSClient(options),
    sfn: new SFNClient(options),
    s3: new S3Client({ ...options, forcePathStyle: true }),
    ecr: new ECRClient(options),
  };
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { cfn: new CloudFormationClient(options), clients };
}

/** Runs a teardown; `cdk` simulates the effect of the cdk commands. */
async function teardown(everything: boolean, cdk: (args: string[]) => void) {
  const { cfn, clients } = await startAws();
  const commands: string[] = [];
  const run = (args: string[]) => {
    account.calls.push(`cdk ${args[0]}`);
    commands.push(args.join(" "));
    cdk(args);
  };
  const deployed = await findDeployed("Slipway", cfn);
  const end = await takeDown(deployed, { everything, clients, cdk: run, say: () => {} }).then(
    () => undefined,
    (error: Error) => error.message,
  );
  return { deployed, commands, end };
}

it("a deployed stack is found with its resources, including access logs and databases", async () => {
  const { cfn } = await startAws();
  expect(await findDeployed("Slipway", cfn)).toEqual({
    stack: "Slipway",
    status: "UPDATE_COMPLETE",
    apiAddress: "https://api1.execute-api.us-east-1.amazonaws.com",
    cluster: "Slipway-Cluster",
    stateMachineArn: "arn:aws:states:us-east-1:000000000000:stateMachine:Slipway-deployment",
    buckets: ["slipway-archives", "slipway-accesslogs"],
    repositoryPrefix: "slipway",
    database: "aurora",
  });
});

it("the error for a missing stack contains its name", async () => {
  account.status = undefined;
  const { cfn } = await startAws();
  await expect(findDeployed("Slipway", cfn)).rejects.toThrow('No stack "Slipway" is deployed');
});

it("access logs are turned off before the buckets are emptied, and the stack is deleted last", async () => {
  const { commands, end } = await teardown(true, () => {});
  expect(end).toBeUndefined();
  const order = account.calls.filter((call) => /^(cdk|empty)/.test(call));
  expect(order).toEqual(["cdk deploy", "empty /slipway-archives/", "empty /slipway-accesslogs/", "cdk destroy"]);
  expect(commands[0]).toContain("-c removal=everything");
  expect(commands[0]).toContain("-c database=aurora");
});

it("a teardown that fails gives the functions their concurrency back", async () => {
  let frozenAtDeploy = 0;
  const { end } = await teardown(false, () => {
    frozenAtDeploy = account.frozen.size;
    throw new Error("cdk deploy failed");
  });
  expect([end, frozenAtDeploy, account.frozen.size]).toEqual(["cdk deploy failed", starters.length, 0]);
});

it("a run after an abort continues where the first one stopped", async () => {
  // The first run was killed while CloudFormation deleted the stack: functions, cluster and one bucket are gone.
  account.status = "DELETE_FAILED";
  account.functions.clear();
  account.resources = everyPart.map((part) => ({
    ...part,
    status: part.id === "slipway-accesslogs" ? "DELETE_FAILED" : "DELETE_COMPLETE",
  }));
  const { commands, end } = await teardown(true, () => {});
  expect(end).toBeUndefined();
  expect(commands.map((command) => command.split(" ")[0])).toEqual(["destroy"]);
  expect(account.calls).toContain("empty /slipway-accesslogs/");
});

const args = ["-c", "alarmEmail=ops@example.com"];

it.each([undefined, "ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "REVIEW_IN_PROGRESS"])(
  "a first deployment (%s) locks nothing until everything exists",
  (status) => {
    expect(deployCommands(args, status)).toEqual([
      ["deploy", ...args, "-c", "removal=first-deploy"],
      ["deploy", ...args, "--require-approval", "never"],
    ]);
  },
);

it.each(["CREATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE"])("a later deployment (%s) is one command", (status) => {
  expect(deployCommands(args, status)).toEqual([["deploy", ...args]]);
});

it("a removal value of the caller is kept", () => {
  expect(deployCommands(["-c", "removal=never"], undefined)).toEqual([["deploy", "-c", "removal=never"]]);
});

it.each([
  [[], "Slipway"],
  [["-c", "stackName=Two"], "Two"],
  [["--context=stackName=Two"], "Two"],
  [["-c", "database=none", "--context", "stackName=Three"], "Three"],
])("%j deploys the stack %s", (given, name) => {
  expect(stackNameOf(given)).toBe(name);
});
