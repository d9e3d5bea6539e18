import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ExecuteStatementCommand, RDSDataClient } from "@aws-sdk/client-rds-data";
import { AssumeRoleCommand, STSClient } from "@aws-sdk/client-sts";
import { afterAll, beforeAll, expect, it, test } from "vitest";
import { errorFields } from "../../../../lambdas/http/log.ts";

const answer = "secret-value that is neither JSON nor <XML";
const server = createServer((_request, response) => response.end(answer));
beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(() => new Promise((resolve) => server.close(resolve)));

const config = () => ({
  region: "us-east-1",
  endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  credentials: { accessKeyId: "a", secretAccessKey: "b" },
  maxAttempts: 1,
});

test.each([
  [
    "RDS Data",
    () =>
      new RDSDataClient(config()).send(
        new ExecuteStatementCommand({ resourceArn: "r", secretArn: "s", sql: "select" }),
      ),
  ],
  [
    "STS",
    () =>
      new STSClient(config()).send(new AssumeRoleCommand({ RoleArn: "arn:aws:iam::1:role/r", RoleSessionName: "s1" })),
  ],
])("an answer of %s that cannot be parsed is not quoted in the log", async (_, call) => {
  const error = await call().then(
    () => undefined,
    (problem: unknown) => problem,
  );
  expect(error).toBeInstanceOf(Error);
  const fields = JSON.stringify(errorFields(error));
  expect(fields).toContain("A text could not be parsed.");
  expect(fields).not.toContain("secret");
});

it("any other error is logged with its message and where it came from", () => {
  expect(errorFields(new RangeError("too many"))).toMatchObject({ error: "RangeError", detail: "too many" });
});
