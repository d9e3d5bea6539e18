import type { Retrier } from "./definition-schema.ts";
import type { Template } from "./template.ts";

/** The transition out of a state; without `next` the execution ends. */
export interface Exit {
  next: string | undefined;
  assign: [string, Template][];
  output: Template | undefined;
}

export interface TaskState {
  type: "Task";
  resource: string;
  token: boolean;
  args: Template;
  timeoutSeconds: Template | undefined;
  heartbeatSeconds: Template | undefined;
  retry: Retrier[];
  catch: { errorEquals: string[]; exit: Exit }[];
  exit: Exit;
}
export interface ChoiceState {
  type: "Choice";
  choices: { condition: Template; exit: Exit }[];
  /** The Default of the Choice; `undefined` if it has none. */
  otherwise: Exit | undefined;
}
export interface WaitState {
  type: "Wait";
  seconds: Template | undefined;
  timestamp: Template | undefined;
  exit: Exit;
}
export interface PassState {
  type: "Pass" | "Succeed";
  exit: Exit;
}
export interface FailState {
  type: "Fail";
  error: Template | undefined;
  cause: Template | undefined;
}
export type State = TaskState | ChoiceState | WaitState | PassState | FailState;
