import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { newKeyPair } from "../../lambdas/http/presented-credential.ts";
import { bundleLambdas } from "../bundle/bundle.ts";
import { type Measured, median } from "./measure.ts";

const run = promisify(execFile);
const rounds = 20;

/** An empty table, so that every cold start ends with the same 401 for an unknown key. */
async function startEmptyTable() {
  const server = createServer((request, response) => {
    response.setHeader("content-type", "application/x-amz-json-1.0");
    request.resume().on("end", () => response.end(JSON.stringify({ Responses: { rows: [] }, UnprocessedKeys: {} })));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { endpoint, close: () => server.close() };
}

const { access, secret } = newKeyPair("org_01jdqz5yqz0000000000000000");
const event = {
  version: "2.0",
  rawPath: "/ping",
  headers: { authorization: `Bearer ${access}:${secret}` },
  requestContext: { requestId: "bench", http: { method: "GET", path: "/ping" } },
  isBase64Encoded: false,
};

/** Milliseconds from the import of a bundle to its first answer, in a new process. */
async function coldStartMs(file: string, endpoint: string): Promise<number> {
  const script = `
    const began = performance.now();
    const { handler } = await import(${JSON.stringify(file)});
    const { statusCode } = await handler(${JSON.stringify(event)}, { getRemainingTimeInMillis: () => 25_000 });
    const ms = performance.now() - began;
    if (statusCode !== 401) throw new Error("The bundle answered " + statusCode);
    console.log(ms);
    process.exit();
  `;
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", script], {
    env: {
      AWS_REGION: "eu-central-1",
      AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
      AWS_SECRET_ACCESS_KEY: "secret",
      AWS_ENDPOINT_URL_DYNAMODB: endpoint,
      TABLE_NAME: "rows",
    },
  });
  return Number(stdout);
}

async function bundleNaive(outfile: string): Promise<void> {
  const entry = join(import.meta.dirname, "naive-function.ts");
  await build({ entryPoints: [entry], outfile, bundle: true, platform: "node", target: "node24", minify: true });
}

/** Compares import and first call of a function that uses only the table with a naive implementation of the same function. */
export async function benchColdStart(): Promise<Measured[]> {
  const folder = await mkdtemp(join(tmpdir(), "slipway-bench-"));
  const table = await startEmptyTable();
  try {
    await bundleLambdas(join(folder, "lean"), ["organizations/ping"]);
    await bundleNaive(join(folder, "naive.cjs"));
    const times: { ours: number; naive: number }[] = [];
    for (let round = -1; round < rounds; round += 1) {
      const ours = await coldStartMs(join(folder, "lean/organizations/ping.mjs"), table.endpoint);
      const naive = await coldStartMs(join(folder, "naive.cjs"), table.endpoint);
      if (round >= 0) times.push({ ours, naive });
    }
    const [ours, naive] = [median(times.map((one) => one.ours)), median(times.map((one) => one.naive))];
    const detail = `${ours.toFixed(0)} ms from import to first answer against ${naive.toFixed(0)} ms`;
    return [{ name: "cold start: lean bundle / naive bundle", ratio: ours / naive, bound: 0.6, detail }];
  } finally {
    table.close();
    await rm(folder, { recursive: true, force: true });
  }
}
