import { Aws, Stack } from "aws-cdk-lib";
import { AccountPrincipal, type IPrincipal, type Role } from "aws-cdk-lib/aws-iam";
import { Construct } from "constructs";
import { roleFor } from "./allow.ts";
import type { Data } from "./data.ts";

/** The IAM path of all function roles; trust policies match it. */
export const functionRolePath = `/${Aws.STACK_NAME}/functions/`;

/** Trusts only the function roles of this stack; their own policies decide which of them may assume a role. */
export function functionsOf(scope: Construct): IPrincipal {
  const stack = Stack.of(scope);
  const functionRoles = `arn:${stack.partition}:iam::${stack.account}:role${functionRolePath}*`;
  return new AccountPrincipal(stack.account).withConditions({ ArnLike: { "aws:PrincipalArn": functionRoles } });
}

/**
 * Roles that only sign addresses. A presigned address expires with the session that signed it, so each signing assumes
 * one of these roles for one hour, the life of the address.
 */
export class Signers extends Construct {
  readonly archives: Role;
  readonly files: Role;

  constructor(scope: Construct, id: string, data: Data) {
    super(scope, id);
    this.archives = roleFor(this, "Archives", {
      description: "Signs upload addresses of source archives",
      assumedBy: functionsOf(this),
      allow: [
        {
          actions: ["s3:PutObject"],
          resources: [data.archives.arnForObjects("archives/*")],
          because: "Signs for one object at a time; objects are named after builds.",
        },
        {
          actions: ["kms:Decrypt", "kms:GenerateDataKey"],
          resources: [data.key.keyArn],
          conditions: { StringEquals: { "kms:ViaService": `s3.${Aws.REGION}.amazonaws.com` } },
        },
      ],
    });
    this.files = roleFor(this, "Files", {
      description: "Signs upload and download addresses of stored files",
      assumedBy: functionsOf(this),
      allow: [
        {
          actions: ["s3:GetObject", "s3:GetObjectVersion", "s3:PutObject"],
          resources: [data.files.arnForObjects("*")],
          because: "Signs for one object at a time; objects are named after files.",
        },
        // Without it S3 answers 403, not 404, to the download of a file that has not been uploaded.
        { actions: ["s3:ListBucket"], resources: [data.files.bucketArn] },
      ],
    });
  }
}
