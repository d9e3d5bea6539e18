/** A place in a JSON document, from its root. */
export type JsonPath = readonly (string | number)[];

/** A document without one of its parts: a test should notice. */
export interface Removal {
  path: JsonPath;
  /** What is removed, in words. */
  what: string;
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

function entriesOf(node: Json): [string | number, Json][] {
  if (Array.isArray(node)) return [...node.entries()];
  return typeof node === "object" && node !== null ? Object.entries(node) : [];
}

/** Each part of a document that `isRemovable` names, by its key, the key of the list or object around it, and the part. */
function removals(
  document: Json,
  isRemovable: (key: string | number, parent: string | number | undefined, part: Json) => boolean,
): Removal[] {
  const visit = (node: Json, path: JsonPath): Removal[] =>
    entriesOf(node).flatMap(([key, child]) => {
      const here = [...path, key];
      const own = isRemovable(key, path.at(-1), child) ? [{ path: here, what: here.join(".") }] : [];
      return [...own, ...visit(child, here)];
    });
  return visit(document, []);
}

/** A copy of a document without the part at this place. */
export function without(document: Json, path: JsonPath): Json {
  const [key, ...rest] = path;
  if (key === undefined) return document;
  if (Array.isArray(document)) {
    return document.flatMap((item, index) => (index !== key ? [item] : rest.length > 0 ? [without(item, rest)] : []));
  }
  if (typeof document !== "object" || document === null) return document;
  return Object.fromEntries(
    Object.entries(document).flatMap(([name, value]): [string, Json][] =>
      name !== key ? [[name, value]] : rest.length > 0 ? [[name, without(value, rest)]] : [],
    ),
  );
}

const machineParts = new Set(["Retry", "Catch", "TimeoutSeconds", "HeartbeatSeconds"]);
const machineLists = new Set(["Retry", "Catch", "Choices", "ErrorEquals"]);

/** What of the state machine can be missing: a time limit, each rule for errors, each error's name, each choice. */
export function machineRemovals(machine: Json): Removal[] {
  return removals(
    machine,
    (key, parent) => machineParts.has(String(key)) || (typeof key === "number" && machineLists.has(String(parent))),
  );
}

const templateParts =
  /^(Condition|DeletionPolicy|UpdateReplacePolicy|DeletionProtection|DeletionProtectionEnabled|DeadLetterConfig|RetryPolicy|DestinationConfig|SourceArn|AlarmActions|OKActions|TreatMissingData|PublicAccessBlockConfiguration|BucketEncryption|SSESpecification|SqsManagedSseEnabled|PointInTimeRecoverySpecification|StorageEncrypted|EnableKeyRotation|VersioningConfiguration|LoggingConfiguration|AccessLogSettings|TracingConfiguration|LifecycleConfiguration|RetentionInDays|MessageRetentionPeriod|ReservedConcurrentExecutions|ThrottleSettings|DefaultRouteSettings|Timeout|TimeoutInMinutes|QueuedTimeoutInMinutes|KmsKeyId|KMSMasterKeyId|EncryptionKey|ManageMasterUserPassword|BackupRetentionPeriod)$/;

/**
 * What of the template can be missing: conditions and statements of policies, protection, encryption, alarms, limits.
 * Without a policy, CloudFormation deletes too: "Delete" is not removed. The parameters of a database's group are, but
 * not the template's own, which are the CDK's.
 */
export function templateRemovals(template: Json): Removal[] {
  return removals(
    template,
    (key, parent, part) =>
      (templateParts.test(String(key)) && part !== "Delete") ||
      (key === "Parameters" && parent === "Properties") ||
      (typeof key === "number" && parent === "Statement"),
  );
}
