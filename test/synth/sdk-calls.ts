import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { capabilities } from "../../api/capabilities.ts";
import { grantsFor } from "./policies.ts";
import { toolModules } from "./tools.ts";

const packages: Record<string, string> = {
  "client-cloudwatch": "cloudwatch",
  "client-cloudwatch-logs": "logs",
  "client-codebuild": "codebuild",
  "client-dynamodb": "dynamodb",
  "client-ecr": "ecr",
  "client-ecs": "ecs",
  "client-rds-data": "rds-data",
  "client-s3": "s3",
  "client-sfn": "states",
  "client-sts": "sts",
  "lib-dynamodb": "dynamodb",
};
/** The IAM actions of calls with another name. */
const actionsOf: Record<string, string[]> = {
  "dynamodb:BatchGet": ["dynamodb:BatchGetItem"],
  "dynamodb:Update": ["dynamodb:UpdateItem"],
  "dynamodb:TransactWrite": [
    "dynamodb:ConditionCheckItem",
    "dynamodb:DeleteItem",
    "dynamodb:PutItem",
    "dynamodb:UpdateItem",
  ],
  "s3:CopyObject": ["s3:GetObject", "s3:PutObject"],
  // Without the second permission S3 answers 403 instead of 404 for a missing object.
  "s3:GetObject": ["s3:GetObject", "s3:ListBucket"],
  "s3:DeleteObjects": ["s3:DeleteObjectVersion"],
  "s3:ListObjectVersions": ["s3:ListBucketVersions"],
  "s3:HeadObject": ["s3:GetObject", "s3:ListBucket"],
  // This call uses the credentials of a session, whose role allows it.
  "ecr:GetAuthorizationToken": [],
  // Needs no permission.
  "sts:GetCallerIdentity": [],
};

const root = join(import.meta.dirname, "../..");

/** The source of a module and of the modules that it imports from its folder. */
function sourcesOf(file: string, seen = new Set<string>()): string {
  if (seen.has(file)) return "";
  seen.add(file);
  const source = readFileSync(join(root, file), "utf8");
  const imports = [...source.matchAll(/^(?:import|\}) (?!type )[^;]*?from "(\.\/[^"]+)"/gm)];
  return source + imports.map(([, path = ""]) => sourcesOf(join(dirname(file), path), seen)).join("");
}

/** The actions that the SDK calls of a module need, from its sources. */
function calledActions(file: string): string[] {
  const source = sourcesOf(file);
  const pinned = /VersionId:/.test(source) ? ["s3:GetObjectVersion"] : [];
  const called = [...source.matchAll(/import \{([^}]*)\} from "@aws-sdk\/([\w-]+)"/g)].flatMap(
    ([, names = "", client = ""]) =>
      [...names.matchAll(/(?<!type )\b(?:(\w+)Command|paginate(\w+))\b/g)].flatMap(([, command, paged]) => {
        const call = command ?? paged;
        const action = `${packages[client]}:${call}`;
        return actionsOf[action] ?? [action];
      }),
  );
  return called.length === 0 ? [] : [...called, ...pinned];
}

/** Actions that other actions need; the code does not call them itself. */
const companions = /^(kms|iam|secretsmanager):/;

it("the calls of each tool and the actions of its capabilities are the same", () => {
  expect(toolModules.size).toBeGreaterThan(10);
  for (const file of new Set(toolModules.values())) {
    const ofModule = capabilities.filter((capability) => toolModules.get(capability) === file);
    const granted = ofModule.flatMap(grantsFor).map(({ action }) => action);
    const own = [...new Set(granted.filter((action) => !companions.test(action)))].sort();
    expect([file, own]).toEqual([file, [...new Set(calledActions(file))].sort()]);
  }
});
