import { beforeAll, expect, it } from "vitest";
import { baseImagePrefix } from "../../lib/image-repositories.ts";
import { ofType, resources, slipwayApp } from "./assembly.ts";
import { functions, resourcePolicies, written } from "./policies.ts";

// Otherwise the first test would take as long as the synthesis, and a mutation run would leave it out.
beforeAll(() => void resources());

const stateful = ["AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::RDS::DBCluster"];
const dataKey = () => ofType("AWS::KMS::Key").find(([id]) => id.startsWith("DataKey"))?.[0];

it("deleting the stack or replacing a resource keeps all resources with data, and their key", () => {
  const kept = stateful.flatMap(ofType).concat(ofType("AWS::KMS::Key").filter(([id]) => id === dataKey()));
  expect(kept.map(([id]) => id.replace(/[0-9A-F]{8}$/, "")).sort()).toEqual([
    "DataAccessLogs",
    "DataArchives",
    "DataArtifacts",
    "DataFiles",
    "DataKey",
    "DataTable",
    "DatabaseCluster",
  ]);
  for (const [id, resource] of kept) {
    // A failed first deployment keeps nothing except access logs, which S3 may already have written.
    const deletion = id.startsWith("DataAccessLogs") ? "Retain" : "RetainExceptOnCreate";
    expect([id, resource.DeletionPolicy, resource.UpdateReplacePolicy]).toEqual([id, deletion, "Retain"]);
  }
});

it("the table can be restored to any second, is encrypted with our key and cannot be deleted by mistake", () => {
  const [, table] = ofType("AWS::DynamoDB::Table")[0] ?? [];
  expect(table?.Properties).toMatchObject({
    KeySchema: [
      { AttributeName: "pk", KeyType: "HASH" },
      { AttributeName: "sk", KeyType: "RANGE" },
    ],
    GlobalSecondaryIndexes: [
      {
        IndexName: "locks",
        KeySchema: [
          { AttributeName: "lockShard", KeyType: "HASH" },
          { AttributeName: "leaseUntil", KeyType: "RANGE" },
        ],
        Projection: { ProjectionType: "ALL" },
      },
    ],
    BillingMode: "PAY_PER_REQUEST",
    TimeToLiveSpecification: { AttributeName: "ttl", Enabled: true },
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    DeletionProtectionEnabled: true,
    SSESpecification: { SSEEnabled: true, SSEType: "KMS" },
  });
  expect(written(table?.Properties.SSESpecification.KMSMasterKeyId)).toBe(`<${dataKey()}>`);
});

it("no bucket is public and none answers without TLS", () => {
  for (const [id, { Properties }] of ofType("AWS::S3::Bucket")) {
    expect([id, Properties.PublicAccessBlockConfiguration]).toEqual([
      id,
      { BlockPublicAcls: true, BlockPublicPolicy: true, IgnorePublicAcls: true, RestrictPublicBuckets: true },
    ]);
    const policy = ofType("AWS::S3::BucketPolicy").find(([, one]) => one.Properties.Bucket.Ref === id)?.[1];
    const denied = policy?.Properties.PolicyDocument.Statement.filter(
      (one: { Effect: string }) => one.Effect === "Deny",
    );
    expect(JSON.stringify(denied)).toContain('"aws:SecureTransport":"false"');
  }
});

it("every call to a bucket needs TLS 1.2, and S3 alone writes access logs, those of each bucket below its own prefix", () => {
  const buckets = ofType("AWS::S3::Bucket").map(([id]) => id.slice(0, -8));
  const denied = buckets.flatMap((id) =>
    ["Bool aws:SecureTransport false", "NumericLessThan s3:TlsVersion 1.2"].map(
      (condition) => `Deny * s3:* <${id}> and <${id}>/* if ${condition}`,
    ),
  );
  const logging = ["Archives", "Artifacts", "Files"];
  const logged = logging.map(
    (name) =>
      `Allow logging.s3.amazonaws.com s3:PutObject <DataAccessLogs>/${name.toLowerCase()}/* if ArnLike aws:SourceArn <Data${name}> and StringEquals aws:SourceAccount <AccountId>`,
  );
  expect(resourcePolicies("AWS::S3::BucketPolicy").toSorted()).toEqual([...denied, ...logged].toSorted());
  const destinations = ofType("AWS::S3::Bucket").flatMap(([id, { Properties }]) => {
    const { DestinationBucketName, LogFilePrefix } = Properties.LoggingConfiguration ?? {};
    return LogFilePrefix
      ? [[id.slice(0, -8), written(DestinationBucketName).replace(/[0-9A-F]{8}>$/, ">"), LogFilePrefix]]
      : [];
  });
  expect(destinations).toEqual(logging.map((name) => [`Data${name}`, "<DataAccessLogs>", `${name.toLowerCase()}/`]));
});

it("access logs expire after 90 days, and archives that are rarely read move to cheaper storage", () => {
  const rulesOf = (name: string) =>
    ofType("AWS::S3::Bucket").find(([id]) => id.startsWith(name))?.[1].Properties.LifecycleConfiguration.Rules;
  expect(rulesOf("DataAccessLogs")).toContainEqual(expect.objectContaining({ ExpirationInDays: 90 }));
  expect(rulesOf("DataArchives")).toContainEqual(
    expect.objectContaining({ Transitions: [{ StorageClass: "GLACIER_IR", TransitionInDays: 90 }] }),
  );
});

it("sources and build inputs are encrypted with our key, everything else at least by S3", () => {
  const algorithms = ofType("AWS::S3::Bucket").map(([id, { Properties }]) => {
    const [rule] = Properties.BucketEncryption.ServerSideEncryptionConfiguration;
    const { SSEAlgorithm, KMSMasterKeyID } = rule.ServerSideEncryptionByDefault;
    return `${id.replace(/[0-9A-F]{8}$/, "")} ${SSEAlgorithm} ${KMSMasterKeyID ? written(KMSMasterKeyID).replace(/[0-9A-F]{8}>/, ">") : ""}`.trim();
  });
  expect(algorithms.sort()).toEqual([
    "DataAccessLogs AES256",
    "DataArchives aws:kms <DataKey>",
    "DataArtifacts aws:kms <DataKey>",
    "DataFiles AES256",
  ]);
});

it("old versions of files expire, build inputs expire after 3 days, incomplete uploads after 1 day", () => {
  const buckets = new Map(
    ofType("AWS::S3::Bucket").map(([id, one]) => [id.replace(/[0-9A-F]{8}$/, ""), one.Properties]),
  );
  const rules = (id: string): { Id: string }[] => buckets.get(id).LifecycleConfiguration.Rules;
  for (const id of ["DataArchives", "DataFiles"])
    expect(buckets.get(id).VersioningConfiguration.Status).toBe("Enabled");
  expect(rules("DataFiles")).toContainEqual(
    expect.objectContaining({ NoncurrentVersionExpiration: { NoncurrentDays: 30 } }),
  );
  expect(rules("DataArtifacts")).toContainEqual(expect.objectContaining({ ExpirationInDays: 3 }));
  for (const id of buckets.keys()) {
    const abort = { AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } };
    expect(rules(id)).toContainEqual(expect.objectContaining(abort));
  }
});

it("no version of a source archive is ever expired: each can be what serves, or what a rollback or a redeploy needs", () => {
  const archives = ofType("AWS::S3::Bucket").find(([id]) => id.startsWith("DataArchives"))?.[1];
  const rules: object[] = archives?.Properties.LifecycleConfiguration.Rules;
  const expiring = [
    "ExpirationInDays",
    "ExpirationDate",
    "NoncurrentVersionExpiration",
    "NoncurrentVersionExpirationInDays",
  ];
  expect(rules.flatMap((rule) => Object.keys(rule)).filter((name) => expiring.includes(name))).toEqual([]);
});

it("browsers can upload archives, and upload and read files; the buckets of both send events to EventBridge", () => {
  const buckets = new Map(
    ofType("AWS::S3::Bucket").map(([id, one]) => [id.replace(/[0-9A-F]{8}$/, ""), one.Properties]),
  );
  const rule = { AllowedOrigins: ["*"], AllowedHeaders: ["content-type"], ExposedHeaders: ["ETag"], MaxAge: 3600 };
  expect(new Map([...buckets].map(([id, one]) => [id, one.CorsConfiguration?.CorsRules]))).toEqual(
    new Map([
      ...[...buckets.keys()].map((id) => [id, undefined] as const),
      ["DataArchives", [{ ...rule, AllowedMethods: ["PUT"] }]],
      ["DataFiles", [{ ...rule, AllowedMethods: ["GET", "HEAD", "PUT"] }]],
    ]),
  );
  const told = [...buckets].filter(
    ([, one]) => one.NotificationConfiguration?.EventBridgeConfiguration?.EventBridgeEnabled,
  );
  expect(told.map(([id]) => id).sort()).toEqual(["DataArchives", "DataFiles"]);
});

it("the database pauses when idle, accepts only the Data API, is encrypted, and has deletion protection", () => {
  const [, cluster] = ofType("AWS::RDS::DBCluster")[0] ?? [];
  expect(cluster?.Properties).toMatchObject({
    Engine: "aurora-postgresql",
    EnableHttpEndpoint: true,
    ServerlessV2ScalingConfiguration: { MinCapacity: 0, MaxCapacity: 8, SecondsUntilAutoPause: 600 },
    StorageEncrypted: true,
    DeletionProtection: true,
    BackupRetentionPeriod: 14,
    ManageMasterUserPassword: true,
  });
  const { KmsKeyId, MasterUserSecret } = cluster?.Properties ?? {};
  expect([KmsKeyId, MasterUserSecret.KmsKeyId].map(written)).toEqual([`<${dataKey()}>`, `<${dataKey()}>`]);
  const [[group, parameters] = []] = ofType("AWS::RDS::DBClusterParameterGroup");
  expect(written(cluster?.Properties.DBClusterParameterGroupName)).toBe(`<${group}>`);
  expect(parameters?.Properties.Parameters).toEqual({ statement_timeout: "20000" });
  const route = functions().find(({ id }) => id === "update-table");
  expect(route?.timeout).toBeGreaterThan(20);
  const [, instance] = ofType("AWS::RDS::DBInstance")[0] ?? [];
  expect(instance?.Properties.PubliclyAccessible).toBe(false);
  const groups: string[] = cluster?.Properties.VpcSecurityGroupIds.map((one: unknown) => written(one));
  const opened = ofType("AWS::EC2::SecurityGroupIngress").map(([, one]) => written(one.Properties.GroupId));
  for (const group of groups) {
    expect(opened).not.toContain(group);
    expect(resources()[group.replaceAll(/[<>]/g, "")]?.Properties.SecurityGroupIngress).toBeUndefined();
  }
});

it("the stack contains no project's repository: its first build creates one, which stays when the stack is deleted", () => {
  const names = ofType("AWS::ECR::Repository").map(([, { Properties }]) => Properties.RepositoryName);
  expect(names.filter((name) => !name.startsWith("slipway-base/"))).toEqual([]);
  expect(ofType("AWS::ECR::RepositoryCreationTemplate")).toEqual([]);
  const variables = functions().find(({ id }) => id === "grant-build-access")?.environment;
  expect(written(variables?.IMAGE_REPOSITORIES)).toBe("arn:<Partition>:ecr:<Region>:<AccountId>:repository/slipway");
  expect(written(variables?.IMAGE_KEY)).toBe(`<${dataKey()}>`);
});

it("public images are pulled through copies of the stack's own, which exist before the first build", () => {
  const [, rule] = ofType("AWS::ECR::PullThroughCacheRule")[0] ?? [];
  expect(rule?.Properties).toEqual({ EcrRepositoryPrefix: "slipway-base", UpstreamRegistryUrl: "public.ecr.aws" });
  const copies = ofType("AWS::ECR::Repository").map(([, { Properties }]) => Properties.RepositoryName);
  const images = ["docker/library/node", "docker/library/python", "vend/moby/buildkit"];
  expect(copies.sort()).toEqual(images.map((name) => `slipway-base/${name}`));
});

it.each(["Slipway", "S", "A-very-long-stack-name-with-32-ch", "a--b-"])(
  "the prefix of copies for the stack %s is valid",
  (name) => {
    expect(baseImagePrefix(name)).toMatch(/^(?=.{2,30}$)[a-z0-9]+(?:-[a-z0-9]+)*$/);
  },
);

it.each([
  ["My--Stack", "my-stack"],
  ["Edge-", "edge"],
  ["A1", "a1"],
])("the repositories of a stack named %s have the valid prefix %s", (stackName, prefix) => {
  // Without functions of routes, which have no part in it and take most of the time.
  const { images } = slipwayApp({ stackName }, { routes: [] }).stack.resources.apps;
  expect(images.prefix).toBe(prefix);
  expect(`${images.prefix}/prj_01jdqz5yqz0000000000000000`).toMatch(
    /^(?:[a-z0-9]+(?:[._-][a-z0-9]+)*\/)*[a-z0-9]+(?:[._-][a-z0-9]+)*$/,
  );
});

it("every log group has a retention time, and functions write only to groups of the template", () => {
  const groups = ofType("AWS::Logs::LogGroup");
  expect(groups.length).toBeGreaterThan(4);
  for (const [id, { Properties }] of groups) expect([id, Properties.RetentionInDays]).toEqual([id, expect.any(Number)]);
  for (const [, { Properties }] of ofType("AWS::Lambda::Function")) {
    expect(Properties.LoggingConfig.LogGroup.Ref).toMatch(/^FunctionsOutput/);
  }
});

it("keys are rotated, and the policies of roles say who uses them", () => {
  const account = "arn:<Partition>:iam::<AccountId>:root";
  for (const [id, { Properties }] of ofType("AWS::KMS::Key")) {
    expect([id, Properties.EnableKeyRotation]).toEqual([id, true]);
    const [{ Principal, ...rest }, ...others] = Properties.KeyPolicy.Statement;
    expect([id, rest, others]).toEqual([id, { Action: "kms:*", Effect: "Allow", Resource: "*" }, []]);
    expect(written(Principal.AWS)).toBe(account);
  }
});
