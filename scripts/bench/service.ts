import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DescribeExecutionCommand, SFNClient, StartExecutionCommand } from "@aws-sdk/client-sfn";
import { startAwsServer } from "../../local/aws/server.ts";
import { createStepFunctions } from "../../local/stepfunctions/server.ts";
import { jsonOf, type Measured, median, type ServiceOnTable, startOnTable, startProcess } from "./measure.ts";

function get(url: string, agent: Agent, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    request(url, { agent, headers }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode ?? 0));
    })
      .on("error", reject)
      .end();
  });
}

/** Requests per second with sixteen concurrent clients. */
async function throughput(url: string, headers: Record<string, string>, seconds: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const until = performance.now() + seconds * 1000;
  let answered = 0;
  const client = async () => {
    while (performance.now() < until) {
      if ((await get(url, agent, headers)) !== 200) throw new Error("A poll failed");
      answered += 1;
    }
  };
  await Promise.all(Array.from({ length: 16 }, client));
  agent.destroy();
  return answered / seconds;
}

/** Starts an express server with the same BatchGetItem, in its own process, on the same embedded DynamoDB. */
async function startExpress(service: ServiceOnTable, buildId: string): Promise<{ url: string; stop(): void }> {
  const child = spawn(process.execPath, ["scripts/bench/express-server.ts"], {
    env: {
      ...process.env,
      AWS_ENDPOINT_URL_DYNAMODB: service.table,
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: "local",
      AWS_SECRET_ACCESS_KEY: "local",
      ACCESS_KEY: service.key.split(":")[0],
      PROJECT_ID: service.project.split("/").at(-1),
      BUILD_ID: buildId,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await new Promise<string>((resolve) =>
    child.stdout.once("data", (chunk) => resolve(String(chunk).trim())),
  );
  return { url, stop: () => void child.kill("SIGKILL") };
}

/** Both make the same SDK call; a poll also authenticates, validates and converts rows. */
const pollShareMin = 0.7;

async function benchPolls(service: ServiceOnTable): Promise<Measured> {
  const headers = { authorization: `Bearer ${service.key}` };
  const created = await jsonOf(fetch(`${service.project}/builds`, { method: "POST", headers }));
  const url = `${service.project}/builds/${created.build.id}`;
  const express = await startExpress(service, created.build.id);
  const ours: number[] = [];
  const theirs: number[] = [];
  await throughput(url, headers, 1);
  await throughput(express.url, headers, 1);
  for (let round = 0; round < 3; round += 1) {
    ours.push(await throughput(url, headers, 2));
    theirs.push(await throughput(express.url, headers, 2));
  }
  express.stop();
  const [polls, bare] = [median(ours), median(theirs)];
  const share = `${(polls / bare).toFixed(2)} ×, at least ${pollShareMin}`;
  const detail = `${polls.toFixed(0)} polls/s against ${bare.toFixed(0)}/s of express with the same SDK call (${share})`;
  return { name: "poll throughput: express / ours", ratio: bare / polls, bound: 1 / pollShareMin, detail };
}

/** The time of one transition, measured with a chain of Pass states. */
async function benchStates(): Promise<Measured> {
  const dir = mkdtempSync(join(tmpdir(), "bench-states-"));
  const length = 200;
  const arn = "arn:aws:states:us-east-1:000000000000:stateMachine:bench";
  const entries = Array.from({ length }, (_, index) => [
    `S${index}`,
    { Type: "Pass", Output: { n: "{% $states.input.n + 1 %}" }, Next: index + 1 < length ? `S${index + 1}` : "End" },
  ]);
  const definition = {
    QueryLanguage: "JSONata",
    StartAt: "S0",
    States: { ...Object.fromEntries(entries), End: { Type: "Succeed" } },
  };
  const machine = createStepFunctions({
    dir,
    stateMachines: [{ arn, definition }],
    integrations: {},
    onStatusChange: async () => undefined,
  });
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  const server = await startAwsServer({
    json: [machine.service],
    credentials: { find: () => ({ ...credentials, principalArn: "bench" }) },
  });
  const client = new SFNClient({ endpoint: server.endpoint, region: "us-east-1", credentials });
  const times: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const began = performance.now();
    const { executionArn } = await client.send(
      new StartExecutionCommand({ stateMachineArn: arn, name: `r${round}`, input: '{"n":0}' }),
    );
    while ((await client.send(new DescribeExecutionCommand({ executionArn }))).status === "RUNNING") await sleep(1);
    times.push((performance.now() - began) / length);
  }
  client.destroy();
  await machine.close();
  await server.close();
  rmSync(dir, { recursive: true, force: true });
  const perTransition = median(times);
  return {
    name: "state machine: ms per transition",
    ratio: perTransition,
    bound: 0.5,
    detail: `${length} Pass states with JSONata, journalled`,
  };
}

function residentMiB(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
}

/** Polls, start-up, memory and the state machine. */
export async function benchService(): Promise<Measured[]> {
  const first = await startOnTable();
  const polls = await benchPolls(first);
  await first.stop();
  const starts: number[] = [];
  let idleMiB = 0;
  for (let round = 0; round < 3; round += 1) {
    const warm = await startProcess(first.home);
    starts.push(warm.readyMs);
    await sleep(1_000);
    idleMiB = residentMiB(warm.pid);
    await warm.stop();
  }
  rmSync(first.home, { recursive: true, force: true });
  const ready = median(starts);
  return [
    polls,
    { name: "start to ready / 3 s", ratio: ready / 3_000, bound: 1, detail: `${ready.toFixed(0)} ms on a warm folder` },
    {
      name: "idle memory, MiB",
      ratio: idleMiB,
      bound: null,
      detail: "resident set of the service process after its start",
    },
    await benchStates(),
  ];
}
