import { Aws } from "aws-cdk-lib";
import type { Allowance } from "./allow.ts";
import type { Resources } from "./resources.ts";

/** Allows the key only through one AWS service, never in direct calls to KMS. */
function throughService(r: Resources, service: "dynamodb" | "s3", actions: readonly string[]): Allowance {
  const via = `${service}.${Aws.REGION}.amazonaws.com`;
  return { actions, resources: [r.data.key.keyArn], conditions: { StringEquals: { "kms:ViaService": via } } };
}

/** Batch reads and queries of the table and its lock index, without scans. */
export const tableRead: (r: Resources) => Allowance[] = (r) => [
  { actions: ["dynamodb:BatchGetItem", "dynamodb:Query"], resources: [r.data.table.tableArn] },
  { actions: ["dynamodb:Query"], resources: [`${r.data.table.tableArn}/index/locks`] },
  throughService(r, "dynamodb", ["kms:Decrypt", "kms:DescribeKey"]),
];
/** Reads every row; the operator's migration alone needs it. */
export const tableScan: (r: Resources) => Allowance[] = (r) => [
  { actions: ["dynamodb:Scan"], resources: [r.data.table.tableArn] },
  throughService(r, "dynamodb", ["kms:Decrypt", "kms:DescribeKey"]),
];
const tableChange = (r: Resources, actions: readonly string[]): Allowance[] => [
  { actions, resources: [r.data.table.tableArn] },
  throughService(r, "dynamodb", [
    "kms:Decrypt",
    "kms:DescribeKey",
    "kms:Encrypt",
    "kms:GenerateDataKey",
    "kms:ReEncryptFrom",
    "kms:ReEncryptTo",
  ]),
];
/** A DynamoDB transaction needs the IAM action of each of its writes; it has no action of its own. */
export const tableWrite: (r: Resources) => Allowance[] = (r) =>
  tableChange(r, ["dynamodb:ConditionCheckItem", "dynamodb:DeleteItem", "dynamodb:PutItem", "dynamodb:UpdateItem"]);
/** Updates single rows, for reads that also record something (the last use of a key). */
export const tableUpdate: (r: Resources) => Allowance[] = (r) => tableChange(r, ["dynamodb:UpdateItem"]);

const namedAfter = "The objects are named after organizations, projects and builds.";
const archiveObjects = (r: Resources) => [r.data.archives.arnForObjects("archives/*")];
/** Without this permission S3 answers 403 instead of 404 for a missing object. */
const listing = (bucketArn: string): Allowance => ({ actions: ["s3:ListBucket"], resources: [bucketArn] });

/** Reads source archives by version. */
export const archivesRead: (r: Resources) => Allowance[] = (r) => [
  { actions: ["s3:GetObject", "s3:GetObjectVersion"], resources: archiveObjects(r), because: namedAfter },
  listing(r.data.archives.bucketArn),
  throughService(r, "s3", ["kms:Decrypt"]),
];
/** Deletes every version of source archives, and the values that builds were made with. */
export const archivesRemove: (r: Resources) => Allowance[] = (r) => [
  { actions: ["s3:DeleteObjectVersion"], resources: archiveObjects(r), because: namedAfter },
  {
    // In a bucket without versions each object is deleted as its version "null".
    actions: ["s3:DeleteObjectVersion"],
    resources: [r.data.artifacts.arnForObjects("values/*")],
    because: namedAfter,
  },
  { actions: ["s3:ListBucketVersions"], resources: [r.data.archives.bucketArn, r.data.artifacts.bucketArn] },
];
/** Copies a source archive to another key. */
export const archivesCopy: (r: Resources) => Allowance[] = (r) => [
  ...archivesRead(r),
  { actions: ["s3:PutObject"], resources: archiveObjects(r), because: namedAfter },
  throughService(r, "s3", ["kms:Decrypt", "kms:GenerateDataKey"]),
];
/** Writes the files that an image build reads. */
export const artifactsWrite: (r: Resources) => Allowance[] = (r) => [
  {
    actions: ["s3:PutObject"],
    resources: [r.data.artifacts.arnForObjects("builds/*"), r.data.artifacts.arnForObjects("values/*")],
    because: namedAfter,
  },
  throughService(r, "s3", ["kms:Decrypt", "kms:GenerateDataKey"]),
];

/** Reads the values that builds were made with, to mask them in output. */
export const buildValuesRead: (r: Resources) => Allowance[] = (r) => [
  { actions: ["s3:GetObject"], resources: [r.data.artifacts.arnForObjects("values/*")], because: namedAfter },
  listing(r.data.artifacts.bucketArn),
  throughService(r, "s3", ["kms:Decrypt"]),
];

const storedFile = (r: Resources, action: string): Allowance => ({
  actions: [action],
  resources: [r.data.files.arnForObjects("*")],
  because: "The objects are named after organizations and files.",
});

/** Checks stored files; clients read and write their content with presigned addresses. */
export const filesLook: (r: Resources) => Allowance[] = (r) => [
  storedFile(r, "s3:GetObject"),
  listing(r.data.files.bucketArn),
];

/** Deletes stored files. */
export const filesRemove: (r: Resources) => Allowance[] = (r) => [storedFile(r, "s3:DeleteObject")];

/** Runs statements through the Data API; empty if the stack has no databases. */
export const databasesRun: (r: Resources) => Allowance[] = (r) =>
  r.database === undefined
    ? []
    : [
        {
          actions: [
            "rds-data:BeginTransaction",
            "rds-data:CommitTransaction",
            "rds-data:ExecuteStatement",
            "rds-data:RollbackTransaction",
          ],
          resources: [r.database.cluster.clusterArn],
        },
        { actions: ["secretsmanager:GetSecretValue"], resources: [r.database.secretArn] },
        {
          actions: ["kms:Decrypt"],
          resources: [r.data.key.keyArn],
          conditions: { StringEquals: { "kms:ViaService": `secretsmanager.${Aws.REGION}.amazonaws.com` } },
        },
      ];
