import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { BatchGetCommand, DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import express from "express";

/** The baseline of a poll: express answers with the rows of the same BatchGetItem, without any checks. */
const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
const { ACCESS_KEY, PROJECT_ID, BUILD_ID } = process.env;
const Keys = [
  { pk: `KEY#${ACCESS_KEY}`, sk: "KEY" },
  { pk: `PRJ#${PROJECT_ID}`, sk: "PRJ" },
  { pk: `PRJ#${PROJECT_ID}`, sk: `BLD#${BUILD_ID}` },
  { pk: `PRJ#${PROJECT_ID}`, sk: "LIVE" },
];

const app = express();
app.get("/", async (_request, response) => {
  const output = await client.send(new BatchGetCommand({ RequestItems: { slipway: { Keys, ConsistentRead: true } } }));
  response.json(output.Responses?.slipway);
});
const server = app.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object" && address) console.log(`http://127.0.0.1:${address.port}/`);
});
