import { rmSync } from "node:fs";
import type { StepFunctionsBehavior } from "../behavior.ts";
import { type Archive, fileNameOf, openArchive } from "../store/archive.ts";
import { type Identity, openJournal } from "../store/journal.ts";
import { createOutbox } from "../store/outbox.ts";
import { openStore } from "../store/store.ts";
import type { Clock } from "./clock.ts";
import { Interrupted } from "./errors.ts";
import { createExecution, type Execution, recordNow } from "./execution.ts";
import type { Machine } from "./machine.ts";
import type { Integrations } from "./resources.ts";
import { type Outcome, runExecution } from "./runner.ts";
import type { StatusChangeEvent } from "./status-event.ts";
import { type Runtime, recordEvent } from "./step.ts";
import { createTokens, type Tokens } from "./task-token.ts";

/** Runs executions and stores their state; the API operations use it. */
export interface Engine extends Tokens {
  archive: Archive;
  /** Executions that have not ended, by ARN. */
  open: ReadonlyMap<string, Execution>;
  start(identity: Omit<Identity, "definition" | "deadline" | "startedAt">, machine: Machine): Execution;
  /** Ends an execution; has no effect if it has already ended. */
  end(execution: Execution, outcome: Outcome): void;
  resume(): void;
  close(): Promise<void>;
  idle(): Promise<void>;
}

const ENDED_EVENTS = {
  SUCCEEDED: "ExecutionSucceeded",
  FAILED: "ExecutionFailed",
  TIMED_OUT: "ExecutionTimedOut",
  ABORTED: "ExecutionAborted",
} as const;

/** Emits a warning: the journal could not be written, so the execution pauses until the next resume. */
function warn(execution: Execution, error: unknown): void {
  process.emitWarning(`${execution.identity.arn} is paused: ${String(error)}`, "StepFunctions");
}

/** Creates an engine and loads the executions in `dir`, which continue at `resume()`. */
export function createEngine(options: {
  dir: string;
  machines: Machine[];
  integrations: Integrations;
  clock: Clock;
  region: string;
  onStatusChange: (event: StatusChangeEvent) => Promise<void>;
  behavior: StepFunctionsBehavior;
}): Engine {
  const { clock } = options;
  const store = openStore(options.dir, options.machines, options.integrations);
  const archive = openArchive(options.dir, clock.now);
  const open = new Map<string, Execution>();
  const undelivered: Execution[] = [];
  const runs = new Map<Execution, Promise<void>>();
  const deadlines = new Map<Execution, () => void>();
  const waiters: (() => void)[] = [];
  let closing = false;

  const isIdle = () => outbox.pending() === 0 && [...runs.keys()].every((execution) => execution.parked);
  const changed = () => {
    if (waiters.length === 0 || !isIdle()) return;
    for (const wake of waiters.splice(0)) wake();
  };
  const outbox = createOutbox({
    clock,
    region: options.region,
    deliver: options.onStatusChange,
    journalPath: store.journalPath,
    changed,
    behavior: options.behavior,
  });
  const runtime: Runtime = { clock, integrations: options.integrations, calls: new Set(), changed };

  const archiveEnded = (execution: Execution) => {
    const { identity, ending, history } = execution;
    if (!ending) return;
    archive.add({ identity, ending, history });
    open.delete(identity.arn);
    outbox.deliver(execution);
  };

  const end = (execution: Execution, outcome: Outcome) => {
    if (execution.ending) return;
    const stoppedAt = clock.now();
    const { status, output: _, ...reason } = outcome;
    // As on AWS, only the history contains the error of a time-out.
    const eventFields = status === "TIMED_OUT" ? { error: "States.Timeout" } : reason;
    recordEvent(execution, stoppedAt, ENDED_EVENTS[status], eventFields);
    recordNow(execution, { t: "ended", ...outcome, stoppedAt });
    deadlines.get(execution)?.();
    deadlines.delete(execution);
    execution.interrupt?.();
    archiveEnded(execution);
  };

  const run = async (execution: Execution) => {
    try {
      const outcome = await runExecution(runtime, execution);
      end(execution, outcome);
    } catch (error) {
      if (!(error instanceof Interrupted)) warn(execution, error);
    }
  };

  const launch = (execution: Execution) => {
    if (runs.has(execution) || execution.ending) return;
    const { deadline } = execution.identity;
    const expire = () => {
      try {
        end(execution, { status: "TIMED_OUT" });
      } catch (error) {
        warn(execution, error);
      }
    };
    if (deadline !== undefined && deadline <= clock.now()) return expire();
    if (deadline !== undefined) deadlines.set(execution, clock.at(deadline, expire));
    outbox.deliver(execution);
    const running = run(execution).finally(() => {
      runs.delete(execution);
      changed();
    });
    runs.set(execution, running);
  };

  for (const execution of store.load()) {
    if (!execution.ending) {
      open.set(execution.identity.arn, execution);
      continue;
    }
    const { identity, ending, history } = execution;
    archive.add({ identity, ending, history });
    undelivered.push(execution);
  }

  const tokens = createTokens(clock, open, archive);

  return {
    archive,
    open,
    end,
    start(base, machine) {
      const startedAt = clock.now();
      const deadline = machine.timeoutSeconds && { deadline: startedAt + machine.timeoutSeconds * 1_000 };
      const identity: Identity = { ...base, startedAt, definition: machine.hash, ...deadline };
      const file = fileNameOf(identity);
      const execution = createExecution(identity, machine, machine.startAt, file, openJournal(store.journalPath(file)));
      execution.journal.append({ t: "started", ...identity });
      try {
        execution.journal.flush();
      } catch (error) {
        rmSync(store.journalPath(file), { force: true }); // an incomplete first line would break a second attempt
        throw error;
      }
      open.set(identity.arn, execution);
      launch(execution);
      return execution;
    },
    ...tokens,
    resume() {
      for (const execution of undelivered.splice(0)) outbox.deliver(execution);
      for (const execution of [...open.values()]) launch(execution);
    },
    async close() {
      if (closing) return;
      closing = true;
      outbox.close();
      for (const cancel of deadlines.values()) cancel();
      for (const execution of open.values()) {
        execution.journal.seal();
        execution.halted = true;
        execution.interrupt?.();
      }
      for (const controller of runtime.calls) controller.abort();
      await Promise.all(runs.values());
      for (const wake of waiters.splice(0)) wake();
    },
    idle: () =>
      new Promise((resolve) => {
        waiters.push(resolve);
        queueMicrotask(changed);
      }),
  };
}
