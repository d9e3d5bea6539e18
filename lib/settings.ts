import type { Node } from "constructs";

export interface Settings {
  stackName: string;
  /** "aurora" creates the databases of organizations; "none" omits the cluster, its cost and the database routes. */
  database: "aurora" | "none";
  /** The e-mail address for alarms; its owner must confirm the subscription first. */
  alarmEmail: string | undefined;
  /** What may be deleted with the stack; only `scripts/deploy.ts` and `scripts/teardown.ts` use other values than "never". */
  removal: "never" | "first-deploy" | "keep-data" | "everything";
}

const known = ["stackName", "database", "alarmEmail", "removal"] as const;

/** The CDK's own context keys contain a colon or a slash; other keys come from the user's `-c` options. */
const isOurs = (key: string) => !/[:/]/.test(key);

function text(node: Node, key: (typeof known)[number]): string | undefined {
  const value: unknown = node.tryGetContext(key);
  if (value === undefined) return undefined;
  if (typeof value === "string" && value !== "") return value;
  throw new Error(`The context value "${key}" must be text: -c ${key}=…`);
}

const removals = ["never", "first-deploy", "keep-data", "everything"] as const;
const isRemoval = (value: string): value is Settings["removal"] => removals.some((one) => one === value);

/** Reads the `-c` values of a deployment; throws with the valid names or values when one is unknown. */
export function readSettings(node: Node): Settings {
  const unknown = Object.keys(node.getAllContext()).filter((key) => isOurs(key) && !known.some((one) => one === key));
  if (unknown.length > 0) {
    throw new Error(`Unknown context value "${unknown[0]}". Use -c with one of: ${known.join(", ")}.`);
  }
  const database = text(node, "database") ?? "aurora";
  if (database !== "aurora" && database !== "none") {
    throw new Error(`Unknown database "${database}". Use -c database=aurora or -c database=none.`);
  }
  const stackName = text(node, "stackName") ?? "Slipway";
  if (!/^[A-Za-z][A-Za-z0-9-]{0,31}$/.test(stackName)) {
    throw new Error(
      `"${stackName}" is not a valid stack name. Use at most 32 letters, digits and hyphens, starting with a letter.`,
    );
  }
  const alarmEmail = text(node, "alarmEmail");
  if (alarmEmail !== undefined && !/^[^@\s]+@[^@\s]+$/.test(alarmEmail)) {
    throw new Error(`"${alarmEmail}" is not an e-mail address. Use -c alarmEmail=name@example.com or leave it out.`);
  }
  const removal = text(node, "removal") ?? "never";
  if (!isRemoval(removal)) {
    throw new Error(`Unknown removal "${removal}". Use -c removal=${removals.join(", ")}.`);
  }
  return { stackName, database, alarmEmail, removal };
}
