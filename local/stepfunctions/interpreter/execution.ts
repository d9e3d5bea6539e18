import type { Answer, Ending, Entry, HistoryEvent, Identity, Journal } from "../store/journal.ts";
import type { Machine } from "./machine.ts";

export type ExecutionStatus = "RUNNING" | Ending["status"];

/** One attempt of a Task; its deadlines are absolute, so that they stay the same after a restart. */
export interface Attempt {
  deadline: number | undefined;
  heartbeatSeconds: number | undefined;
  aliveAt: number;
  token: string | undefined;
  /** The call of a `.waitForTaskToken` Task has returned, so it is not repeated after a restart. */
  submitted: boolean;
  answer: Answer | undefined;
}

/** The progress of an execution: its current state, the input of that state, and its attempts. */
export interface Position {
  state: string;
  enteredAt: number;
  input: unknown;
  variables: Record<string, unknown>;
  /** Whether the journal contains this position. */
  recorded: boolean;
  /** The number of retries, by the retrier's index. */
  retries: Map<number, number>;
  retryCount: number;
  retryDue: number | undefined;
  waitUntil: number | undefined;
  attempt: Attempt | undefined;
}

/** An execution that has not been archived yet. */
export interface Execution {
  identity: Identity;
  /** `undefined` if the definition with which it started cannot be loaded any more. */
  machine: Machine | undefined;
  input: unknown;
  file: string;
  journal: Journal;
  position: Position;
  history: HistoryEvent[];
  ending: Ending | undefined;
  /** Statuses whose event has been delivered. */
  delivered: Set<string>;
  /** The journal could not be read completely, so the execution fails. */
  damaged: boolean;
  /** Waits for its task token. */
  parked: boolean;
  /** The service is closing; the execution continues at the next resume. */
  halted: boolean;
  /** Rejects the current pause of the execution with Interrupted. */
  interrupt: (() => void) | undefined;
  onAnswer: (() => void) | undefined;
  onHeartbeat: (() => void) | undefined;
}

/** Whether the execution has ended or the service is closing; then it must not continue. */
export function isOver(execution: Execution): boolean {
  return execution.ending !== undefined || execution.halted;
}

/** The position after entering a state. */
export function enter(state: string, at: number, input: unknown, variables: Record<string, unknown>): Position {
  return {
    state,
    enteredAt: at,
    input,
    variables,
    recorded: false,
    retries: new Map(),
    retryCount: 0,
    retryDue: undefined,
    waitUntil: undefined,
    attempt: undefined,
  };
}

/** A new execution at its first state. */
export function createExecution(
  identity: Identity,
  machine: Machine | undefined,
  startAt: string,
  file: string,
  journal: Journal,
): Execution {
  const input: unknown = JSON.parse(identity.input);
  const position = { ...enter(startAt, identity.startedAt, input, {}), recorded: true };
  return {
    identity,
    machine,
    input,
    file,
    journal,
    position,
    history: [],
    ending: undefined,
    delivered: new Set(),
    damaged: false,
    halted: false,
    parked: false,
    interrupt: undefined,
    onAnswer: undefined,
    onHeartbeat: undefined,
  };
}

function replayAttempt(attempt: Attempt | undefined, entry: Entry): void {
  if (!attempt) return;
  if (entry.t === "submitted") attempt.submitted = true;
  if (entry.t === "heartbeat") attempt.aliveAt = entry.at;
  if (entry.t === "answer") attempt.answer = entry.answer;
}

/** Applies one journal entry; replaying all entries restores the execution as of its last written line. */
export function replay(execution: Execution, entry: Entry): void {
  const { position } = execution;
  switch (entry.t) {
    case "started":
      return;
    case "event": {
      const { t: _, ...event } = entry;
      execution.history.push(event);
      return;
    }
    case "entered":
      execution.position = { ...enter(entry.state, entry.at, entry.input, entry.variables), recorded: true };
      return;
    case "waiting":
      position.waitUntil = entry.until;
      return;
    case "attempt":
      position.retryDue = undefined;
      position.attempt = {
        deadline: entry.deadline,
        heartbeatSeconds: entry.heartbeatSeconds,
        aliveAt: entry.aliveAt,
        token: entry.token,
        submitted: false,
        answer: undefined,
      };
      return;
    case "submitted":
    case "heartbeat":
    case "answer":
      replayAttempt(position.attempt, entry);
      return;
    case "retry":
      position.retries.set(entry.retrier, (position.retries.get(entry.retrier) ?? 0) + 1);
      position.retryCount += 1;
      position.retryDue = entry.due;
      position.attempt = undefined;
      return;
    case "ended": {
      const { t: _, ...ending } = entry;
      execution.ending = ending;
      return;
    }
    case "delivered":
      execution.delivered.add(entry.status);
      return;
  }
}

/** Writes an entry to disk, then applies it, so that memory is never ahead of the disk. Throws JournalBroken. */
export function recordNow(execution: Execution, entry: Entry): void {
  execution.journal.append(entry);
  execution.journal.flush();
  replay(execution, entry);
}

/** Applies an entry that is written with the next flush; only for steps that can be repeated after a crash. */
export function record(execution: Execution, entry: Entry): void {
  execution.journal.append(entry);
  replay(execution, entry);
}
