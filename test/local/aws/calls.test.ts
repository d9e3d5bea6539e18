import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { createCloudWatch } from "../../../local/cloudwatch/server.ts";
import { createCodeBuild } from "../../../local/codebuild/server.ts";
import { ecrOperations } from "../../../local/ecr/operations.ts";
import { createEcs } from "../../../local/ecs/server.ts";
import { createLogs } from "../../../local/logs/server.ts";
import { rdsDataOperations } from "../../../local/rds/operations.ts";
import { s3Calls } from "../../../local/s3/operations/operations.ts";
import { createStepFunctions } from "../../../local/stepfunctions/server.ts";
import { stsCalls } from "../../../local/sts/operations.ts";

const dir = mkdtempSync(join(tmpdir(), "slipway-calls-"));
const logs = createLogs({ dir: join(dir, "logs") });
const ecs = createEcs({
  dir: join(dir, "ecs"),
  clusterName: "slipway",
  gateway: { testHeader: { name: "x-test", value: "1" } },
  logs,
  portFor: () => 0,
  resolveImage: () => Promise.reject(new Error("no image")),
});
const codeBuild = await createCodeBuild({
  projectName: "images",
  region: "us-east-1",
  workDir: join(dir, "builds"),
  logGroup: "builds",
  log: () => undefined,
  builder: () => Promise.reject(new Error("no build")),
});
const stepFunctions = createStepFunctions({
  dir: join(dir, "executions"),
  stateMachines: [],
  integrations: {},
  onStatusChange: async () => undefined,
});
afterAll(async () => {
  await Promise.all([ecs.close(), codeBuild.close(), stepFunctions.close()]);
  logs.close();
  cloudWatch.close();
  rmSync(dir, { recursive: true, force: true });
});

const cloudWatch = createCloudWatch({ dir: join(dir, "cloudwatch") });
const calls: Record<string, string[]> = {
  CloudWatch: Object.keys(cloudWatch.service.operations),
  CodeBuild: Object.keys(codeBuild.service.operations),
  ECR: Object.keys(ecrOperations({} as never, "", async () => false)),
  ECS: Object.keys(ecs.service.operations),
  Lambda: ["Invoke"],
  // Its calls are identified by their paths, which omit a word.
  "RDS Data": Object.keys(rdsDataOperations({} as never, {} as never)).map((path) =>
    path.slice(1).replace(/Execute$/, "ExecuteStatement"),
  ),
  Logs: Object.keys(logs.service.operations),
  S3: Object.keys(s3Calls),
  STS: Object.keys(stsCalls),
  "Step Functions": Object.keys(stepFunctions.service.operations),
};

const readme = readFileSync("local/README.md", "utf8");
const listed = new Map(
  [...readme.matchAll(/^\| ([\w ]+) \| `(\w+)\/` \| (.*) \|$/gm)].map(([, name = "", folder = "", text = ""]) => [
    name,
    { folder, names: [...text.matchAll(/`(\w+)`/g)].map(([, call = ""]) => call) },
  ]),
);

it.each(Object.entries(calls))("local/README.md lists the calls of %s", (service, names) => {
  expect(listed.get(service)?.names).toEqual(names.toSorted());
});

it("local/README.md lists every service once, and its folder exists", () => {
  expect([...listed.keys()].sort()).toEqual([...Object.keys(calls), "DynamoDB"].sort());
  const folders = new Set(readdirSync("local"));
  for (const { folder } of listed.values()) expect(folders).toContain(folder);
});
