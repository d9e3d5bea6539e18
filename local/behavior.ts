import { createHash } from "node:crypto";
import type { AwsCall, CallFault, Faults } from "./aws/call-faults.ts";
import { type CodeBuildBehavior, cloudCodeBuild, kindCodeBuild } from "./codebuild/behavior.ts";
import { cloudEcs, type EcsBehavior, kindEcs } from "./ecs/behavior.ts";
import { cloudS3, kindS3, type S3Behavior } from "./s3/behavior.ts";
import { cloudStepFunctions, kindStepFunctions, type StepFunctionsBehavior } from "./stepfunctions/behavior.ts";

/** The delays, refusals and faults that all embedded services simulate. */
export interface Behavior {
  ecs: EcsBehavior;
  s3: S3Behavior;
  codeBuild: CodeBuildBehavior;
  stepFunctions: StepFunctionsBehavior;
  /** The faults of single calls to all services; undefined: none. */
  faults: Faults | undefined;
}

/** As fast as the machine allows, consistent, without refusals. The default. */
export const kind: Behavior = {
  ecs: kindEcs,
  s3: kindS3,
  codeBuild: kindCodeBuild,
  stepFunctions: kindStepFunctions,
  faults: undefined,
};

/** In each block of this many calls of one operation, each of these faults happens once. */
const callsPerBlock = 20;
const everyCall: CallFault[] = [{ kind: "throttled" }, { kind: "failed" }, { kind: "late", ms: 200 }];

function faultsOf({ service }: AwsCall): CallFault[] {
  // Lambda rarely has a fault of its own, and a step that is repeated waits for a second.
  if (service === "Lambda") return [];
  if (service === "DynamoDB") return [...everyCall, { kind: "conflict" }];
  if (service === "ECS") return [...everyCall, { kind: "stale" }, { kind: "stale" }];
  return everyCall;
}

/** A number from 0 to 1 that depends on the text alone. */
function drawn(text: string): number {
  return createHash("sha256").update(text).digest().readUInt32BE() / 2 ** 32;
}

/**
 * Faults at random calls of each operation, the same ones for the same seed. Two consecutive calls of an operation never both
 * have a fault, so a caller that repeats a call once succeeds.
 */
export function drawnFaults(seed: number): Faults {
  const counts = new Map<string, number>();
  return (call) => {
    const name = `${call.service}.${call.operation}`;
    const index = counts.get(name) ?? 0;
    counts.set(name, index + 1);
    const place = (index % callsPerBlock) / 2;
    if (!Number.isInteger(place)) return undefined;
    const block = `${seed} ${name} ${Math.floor(index / callsPerBlock)}`;
    const order = Array.from({ length: callsPerBlock / 2 }, (_, one) => ({ one, at: drawn(`${block} ${one}`) }));
    order.sort((left, right) => left.at - right.at);
    return faultsOf(call)[order.findIndex(({ one }) => one === place)];
  };
}

/** As slow, late, throttled and eventually consistent as AWS, with short times. */
export function cloud(seed = 1): Behavior {
  return {
    ecs: cloudEcs,
    s3: cloudS3,
    codeBuild: cloudCodeBuild,
    stepFunctions: cloudStepFunctions,
    faults: drawnFaults(seed),
  };
}
