import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { capabilities } from "../../api/capabilities.ts";
import { grantsFor } from "./policies.ts";
import { toolModules } from "./tools.ts";

const packages: Record<string, string> = {
  "client-cloudwatch-logs": "logs",
  "client-codebuild": "codebuild",
  "client-dynamodb": "dynamodb",
  "client-ecs": "ecs",
  "client-rds-data": "rds-data",
  "client-s3": "s3",
  "client-sfn": "states",
  "lib-dynamodb": "dynamodb",
};
/** Calls whose IAM action has another name. */
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
  "s3:HeadObject": ["s3:GetObject", "s3:ListBucket"],
};

/** The actions that the SDK calls of a module need, from its source. */
function calledActions(file: string): string[] {
  const source = readFileSync(join(import.meta.dirname, "../..", file), "utf8");
  const pinned = /VersionId:/.test(source) ? ["s3:GetObjectVersion"] : [];
  const called = [...source.matchAll(/import \{([^}]*)\} from "@aws-sdk\/([\w-]+)"/g)].flatMap(
    ([, names = "", client = ""]) =>
      [...names.matchAll(/(?<!type )\b(\w+)Command\b/g)].flatMap(([, call]) => {
        const action = `${packages[client]}:${call}`;
        return actionsOf[action] ?? [action];
      }),
  );
  // ECR is called without its client; a session's calls are that session's own matter.
  const registry = [...source.matchAll(/callRegistry\("(\w+)", [^;]*?\)(?=\)?;)/g)]
    .filter(([call]) => !call.endsWith(", credentials)"))
    .map(([, call]) => `ecr:${call}`);
  return called.length === 0 ? [] : [...called, ...registry, ...pinned];
}

/** Allowed for the sake of another action: the SDK is never called for them. */
const companions = /^(kms|iam|sts|secretsmanager):/;

it("the calls of each tool and the actions of its capabilities are the same", () => {
  expect(toolModules.size).toBeGreaterThan(10);
  for (const file of new Set(toolModules.values())) {
    const ofModule = capabilities.filter((capability) => toolModules.get(capability) === file);
    const granted = ofModule.flatMap(grantsFor).map(({ action }) => action);
    const own = [...new Set(granted.filter((action) => !companions.test(action)))].sort();
    expect([file, own]).toEqual([file, [...new Set(calledActions(file))].sort()]);
  }
});
