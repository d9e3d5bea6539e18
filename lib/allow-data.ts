import { Aws } from "aws-cdk-lib";
import type { Allowance } from "./allow.ts";
import type { Resources } from "./resources.ts";

/** The key may be used through one service only, never by calling KMS itself. */
function throughService(r: Resources, service: "dynamodb" | "s3", actions: readonly string[]): Allowance {
  const via = `${service}.${Aws.REGION}.amazonaws.com`;
  return { actions, resources: [r.data.key.keyArn], conditions: { StringEquals: { "kms:ViaService": via } } };
}

/** Batches and queries of the table and its lock index; never a scan. */
export const tableRead: (r: Resources) => Allowance[] = (r) => [
  { actions: ["dynamodb:BatchGetItem", "dynamodb:Query"], resources: [r.data.table.tableArn] },
  { actions: ["dynamodb:Query"], resources: [`${r.data.table.tableArn}/index/locks`] },
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
/** DynamoDB's transactions are no IAM actions: each write in one needs its own. */
export const tableWrite: (r: Resources) => Allowance[] = (r) =>
  tableChange(r, ["dynamodb:ConditionCheckItem", "dynamodb:DeleteItem", "dynamodb:PutItem", "dynamodb:UpdateItem"]);
/** Changes to single rows, for what a read records on the side. */
export const tableUpdate: (r: Resources) => Allowance[] = (r) => tableChange(r, ["dynamodb:UpdateItem"]);

const namedAfter = "The objects are named after organizations, projects and builds.";
const archiveObjects = (r: Resources) => [r.data.archives.arnForObjects("archives/*")];
/** Without it S3 answers 403 instead of 404 for an object that is gone. */
const listing = (bucketArn: string): Allowance => ({ actions: ["s3:ListBucket"], resources: [bucketArn] });

/** Source archives, by version. */
export const archivesRead: (r: Resources) => Allowance[] = (r) => [
  { actions: ["s3:GetObject", "s3:GetObjectVersion"], resources: archiveObjects(r), because: namedAfter },
  listing(r.data.archives.bucketArn),
  throughService(r, "s3", ["kms:Decrypt"]),
];
/** A source archive to another key. */
export const archivesCopy: (r: Resources) => Allowance[] = (r) => [
  ...archivesRead(r),
  { actions: ["s3:PutObject"], resources: archiveObjects(r), because: namedAfter },
  throughService(r, "s3", ["kms:Decrypt", "kms:GenerateDataKey"]),
];
/** The files that an image build reads. */
export const artifactsWrite: (r: Resources) => Allowance[] = (r) => [
  { actions: ["s3:PutObject"], resources: [r.data.artifacts.arnForObjects("builds/*")], because: namedAfter },
  throughService(r, "s3", ["kms:Decrypt", "kms:GenerateDataKey"]),
];

/** Looking at and deleting stored files; their content is reached through signed addresses only. */
export const filesManage: (r: Resources) => Allowance[] = (r) => [
  {
    actions: ["s3:DeleteObject", "s3:GetObject"],
    resources: [r.data.files.arnForObjects("*")],
    because: "The objects are named after organizations and files.",
  },
  listing(r.data.files.bucketArn),
];

/** Statements through the Data API; nothing when the stack has no databases. */
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
