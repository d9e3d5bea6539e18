/** A place in a JSON document, from its root. */
export type JsonPath = readonly (string | number)[];

/** A part of a document; a test should fail if it is missing. */
export interface Removal {
  path: JsonPath;
  /** The path as text, for the report. */
  what: string;
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

function entriesOf(node: Json): [string | number, Json][] {
  if (Array.isArray(node)) return [...node.entries()];
  return typeof node === "object" && node !== null ? Object.entries(node) : [];
}

/** The parts of a document for which `isRemovable` is true; it gets the key, the key of the enclosing list or object, and the part. */
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

/** A copy of a document without the part at `path`. */
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

/** The parts of the state machine that are removed: time limits, rules for errors, their error names, and choices. */
export function machineRemovals(machine: Json): Removal[] {
  return removals(
    machine,
    (key, parent) => machineParts.has(String(key)) || (typeof key === "number" && machineLists.has(String(parent))),
  );
}

const templateParts =
  /^(Condition|DeletionPolicy|UpdateReplacePolicy|DeletionProtection|DeletionProtectionEnabled|DeadLetterConfig|RetryPolicy|DestinationConfig|SourceArn|AlarmActions|OKActions|TreatMissingData|PublicAccessBlockConfiguration|BucketEncryption|SSESpecification|SqsManagedSseEnabled|PointInTimeRecoverySpecification|StorageEncrypted|EnableKeyRotation|VersioningConfiguration|LoggingConfiguration|AccessLogSettings|TracingConfiguration|LifecycleConfiguration|RetentionInDays|MessageRetentionPeriod|ReservedConcurrentExecutions|ThrottleSettings|DefaultRouteSettings|Timeout|TimeoutInMinutes|QueuedTimeoutInMinutes|KmsKeyId|KMSMasterKeyId|EncryptionKey|ManageMasterUserPassword|BackupRetentionPeriod)$/;

/**
 * The parts of the template that are removed: conditions and statements of policies, protection, encryption, alarms, limits.
 * Not the deletion policy "Delete", because CloudFormation deletes without it too. Parameters of a database's parameter group
 * are removed, but not the template's own parameters, which the CDK adds.
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
