import { AwsError, type JsonService, type Operation } from "../aws/service.ts";
import { kindStepFunctions, type StepFunctionsBehavior } from "./behavior.ts";
import { createClock, type Schedule } from "./interpreter/clock.ts";
import { createEngine } from "./interpreter/engine.ts";
import { loadMachine } from "./interpreter/machine.ts";
import type { Integrations } from "./interpreter/resources.ts";
import type { StatusChangeEvent } from "./interpreter/status-event.ts";
import { createOperations } from "./operations/operations.ts";

/** The embedded Step Functions: the API for `startAwsServer`, and the start and stop of its engine. */
export interface StepFunctions {
  service: JsonService;
  /** Continues all executions in `dir` and delivers the events that were not delivered yet. */
  resume(): Promise<void>;
  /** Stops without ending executions, which the next process resumes. Calls in flight are aborted, not awaited. */
  close(): Promise<void>;
  /** Resolves when every open execution waits for a task token and every event has been delivered. */
  idle(): Promise<void>;
}

/** Options of the embedded Step Functions. Only one process may use `dir` at a time. */
export interface StepFunctionsOptions {
  dir: string;
  /** `definition` is parsed JSON whose `${Tokens}` are replaced. */
  stateMachines: { arn: string; definition: unknown; roleArn?: string }[];
  integrations: Integrations;
  /** Gets status-change events, each at least once, in any order; a rejection is retried. */
  onStatusChange: (event: StatusChangeEvent) => Promise<void>;
  /** Default: `kindStepFunctions`. */
  behavior?: StepFunctionsBehavior | undefined;
  region?: string;
  now?: () => Date;
  /** Timers of the injected clock; the default is setTimeout. */
  schedule?: Schedule;
}

/** Creates the embedded Step Functions. Throws DefinitionError if a definition is invalid or not supported. */
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
    behavior: options.behavior ?? kindStepFunctions,
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
