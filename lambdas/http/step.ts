import type * as z from "zod";
import type { Capability } from "../../api/capabilities.ts";
import { type ListenerId, listeners, type StepId, steps } from "../../statemachines/steps.ts";
import { isTransient } from "../aws/transient.ts";
import { errorFields, log } from "./log.ts";
import { prepareTools, type Tools } from "./tools.ts";

/** The build was canceled or has ended: the execution drops it. The name is the ASL error. */
export class BuildCanceled extends Error {
  override readonly name = "BuildCanceled";
  constructor() {
    super("The build was canceled.");
  }
}

/** The user's archive or app is at fault; the message is for the user. The name is the ASL error. */
export class BuildRejected extends Error {
  override readonly name = "BuildRejected";
}

/** A fault of a service below that passes by itself; the state machine tries again. The name is the ASL error. */
class TransientFault extends Error {
  override readonly name = "TransientFault";
}

function rethrow(id: string, error: unknown): never {
  if (error instanceof BuildCanceled || error instanceof BuildRejected) throw error;
  log("error", `${id} failed`, errorFields(error));
  if (isTransient(error)) throw new TransientFault(error instanceof Error ? error.message : String(error));
  throw error;
}

type Input<Id extends StepId> = z.output<(typeof steps)[Id]["input"]>;
type Output<Id extends StepId> = z.input<(typeof steps)[Id]["output"]>;
type StepTools<Id extends StepId> = Tools<(typeof steps)[Id]["uses"][number]>;

/** Turns a step of the state machine into its Lambda handler: input checked, tools as declared, errors named for ASL. */
export function step<const Id extends StepId>(
  id: Id,
  handle: (input: Input<Id>, tools: StepTools<Id>) => Promise<Output<Id>>,
): (event: unknown) => Promise<Output<Id>> {
  const ready = prepareTools(steps[id].uses as readonly Capability[]) as () => Promise<StepTools<Id>>;
  return async (event) => {
    try {
      const input = steps[id].input.parse(event) as Input<Id>;
      return await handle(input, await ready());
    } catch (error) {
      return rethrow(id, error);
    }
  };
}

type ListenerTools<Id extends ListenerId> = Tools<(typeof listeners)[Id]["uses"][number]>;

/** Turns an event's or a schedule's handler into a Lambda; a rejected promise makes the event come again. */
export function listener<const Id extends ListenerId, S extends z.ZodType>(
  id: Id,
  schema: S,
  handle: (event: z.output<S>, tools: ListenerTools<Id>) => Promise<void>,
): (event: unknown) => Promise<void> {
  const ready = prepareTools(listeners[id].uses as readonly Capability[]) as () => Promise<ListenerTools<Id>>;
  return async (event) => {
    try {
      await handle(schema.parse(event), await ready());
    } catch (error) {
      rethrow(id, error);
    }
  };
}
