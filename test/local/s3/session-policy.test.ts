import {
  CopyObjectCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutObjectCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readSessionPolicy } from "../../../local/sts/session-policy.ts";
import { clientFor, type Fixture, startFixture } from "./fixture.ts";

let s3: Fixture;
let VersionId: string | undefined;
const clients: S3Client[] = [];
beforeAll(async () => {
  s3 = await startFixture();
  for (const Key of ["mine", "other"]) {
    ({ VersionId } = await s3.client.send(new PutObjectCommand({ Bucket: "archives", Key, Body: Key })));
  }
});
afterAll(async () => {
  for (const client of clients) client.destroy();
  await s3.stop();
});

/** A client whose session may do these things to `archives/mine`, and nothing else. */
function limitedTo(...Action: string[]): S3Client {
  const Statement = [{ Effect: "Allow", Action, Resource: "arn:aws:s3:::archives/mine" }];
  const policy = readSessionPolicy(JSON.stringify({ Version: "2012-10-17", Statement }));
  const roleArn = "arn:aws:iam::000000000000:role/signer";
  const session = s3.credentials.issue({ roleArn, sessionName: "one", durationSeconds: 900, policy });
  const client = clientFor(s3.server.endpoint, session);
  clients.push(client);
  return client;
}
const mine = { Bucket: "archives", Key: "mine" };
const refused = { name: "AccessDenied", $metadata: { httpStatusCode: 403 } };

it("a session can read what its policy allows, and no other object, bucket or version", async () => {
  const client = limitedTo("s3:GetObject");
  expect(await (await client.send(new GetObjectCommand(mine))).Body?.transformToString()).toBe("mine");
  const other = { ...mine, Key: "other" };
  await expect(client.send(new GetObjectCommand(other))).rejects.toMatchObject(refused);
  await expect(client.send(new GetObjectCommand({ ...other, VersionId }))).rejects.toMatchObject(refused);
  await expect(client.send(new GetObjectCommand({ ...mine, VersionId }))).rejects.toMatchObject(refused);
  await expect(client.send(new GetObjectCommand({ ...mine, Bucket: "plain" }))).rejects.toMatchObject(refused);
  await expect(client.send(new PutObjectCommand({ ...mine, Body: "x" }))).rejects.toMatchObject(refused);
  await expect(client.send(new DeleteObjectCommand(mine))).rejects.toMatchObject(refused);
  await expect(client.send(new ListObjectsV2Command({ Bucket: "archives" }))).rejects.toMatchObject(refused);
  await expect(client.send(new ListObjectVersionsCommand({ Bucket: "archives" }))).rejects.toMatchObject(refused);
});

it("a session that may write one object cannot copy an object that it may not read", async () => {
  const client = limitedTo("s3:PutObject", "s3:GetObject");
  await client.send(new PutObjectCommand({ ...mine, Body: "mine" }));
  const copy = new CopyObjectCommand({ ...mine, CopySource: "archives/other" });
  await expect(client.send(copy)).rejects.toMatchObject(refused);
});

it("of several objects a session can delete only the one that its policy allows", async () => {
  const client = limitedTo("s3:DeleteObject");
  const Delete = { Objects: [{ Key: "mine" }, { Key: "other" }] };
  const answer = await client.send(new DeleteObjectsCommand({ Bucket: "archives", Delete }));
  expect(answer.Deleted?.map(({ Key }) => Key)).toEqual(["mine"]);
  expect(answer.Errors?.map(({ Key, Code }) => [Key, Code])).toEqual([["other", "AccessDenied"]]);
});
