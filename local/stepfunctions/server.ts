import { AwsError, type JsonService, type Operation } from "../aws/service.ts";
import { createClock, type Schedule } from "./interpreter/clock.ts";
import { createEngine } from "./interpreter/engine.ts";
import { loadMachine } from "./interpreter/machine.ts";
import type { Integrations } from "./interpreter/resources.ts";
import type { StatusChangeEvent } from "./interpreter/status-event.ts";
import { createOperations } from "./operations/operations.ts";

/** The embedded Step Functions: the API for `startAwsServer`, and the life of the engine behind it. */
export interface StepFunctions {
  service: JsonService;
  /** Goes on with every execution found in `dir` and delivers the events that were not taken. */
  resume(): Promise<void>;
  /** Halts without ending anything: the next process resumes. Calls in flight are aborted, not awaited. */
  close(): Promise<void>;
  /** Resolves once nothing moves by itself: each open execution waits for a task token, each event has been taken. */
  idle(): Promise<void>;
}

/** What the embedded Step Functions runs on. One process at a time may use `dir`. */
export interface StepFunctionsOptions {
  dir: string;
  /** `definition` is parsed JSON, its `${Tokens}` replaced. */
  stateMachines: { arn: string; definition: unknown; roleArn?: string }[];
  integrations: Integrations;
  /** Takes EventBridge's status changes, at least once each, in no promised order; a rejection is tried again. */
  onStatusChange: (event: StatusChangeEvent) => Promise<void>;
  region?: string;
  now?: () => Date;
  /** Timers of the injected clock; the default is setTimeout. */
  schedule?: Schedule;
}

/** Creates the embedded Step Functions. Throws DefinitionError when a definition holds anything it does not cover. */
export function createStepFunctions(options: StepFunctionsOptions): StepFunctions {
  const now = options.now ?? (() => new Date());
  const registered = options.stateMachines.map(({ arn, definition, roleArn }) => ({
    arn,
    roleArn: roleArn ?? `arn:aws:iam::${arn.split(":")[4]}:role/step-functions`,
    createdAt: now().getTime(),
    machine: loadMachine(definition, options.integrations),
  }));
  const engine = createEngine({
    dir: options.dir,
    machines: registered.map(({ machine }) => machine),
    integrations: options.integrations,
    clock: createClock(now, options.schedule),
    region: options.region ?? registered[0]?.arn.split(":")[3] ?? "us-east-1",
    onStatusChange: options.onStatusChange,
  });
  let closed = false;
  const whileOpen =
    (run: Operation): Operation =>
    async (input) => {
      if (closed) throw new AwsError("ServiceUnavailable", "The local Step Functions is closing", 503);
      return run(input);
    };
  const operations = Object.entries(createOperations(engine, registered));
  return {
    service: {
      target: "AWSStepFunctions",
      operations: Object.fromEntries(operations.map(([name, run]) => [name, whileOpen(run)])),
    },
    async resume() {
      engine.resume();
    },
    close() {
      closed = true;
      return engine.close();
    },
    idle: engine.idle,
  };
}
