import middy from "@middy/core";
import type * as z from "zod";
import type { Capability } from "../../api/capabilities.ts";
import { type ListenerId, listeners, removalSteps, type StepId, steps } from "../../statemachines/steps.ts";
import { stepErrors } from "./errors.ts";
import { errorFields, logErrors } from "./log.ts";
import { type ParsedContext, parse } from "./parse.ts";
import { prepareTools, type Tools, type ToolsContext, withTools } from "./tools.ts";

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

/** Canceled and rejected builds are expected, so they are not logged as errors. */
const failureOf = (id: string) => (error: unknown) =>
  error instanceof BuildCanceled || error instanceof BuildRejected
    ? undefined
    : { message: `${id} failed`, fields: errorFields(error) };

/** Middlewares around everything that is not called through the API. Lambda's own timeout ends an invocation. */
function background<Input, ToolSet, Output>(
  id: string,
  read: (event: unknown) => Input,
  ready: () => Promise<ToolSet>,
  handle: (input: Input, tools: ToolSet) => Promise<Output>,
) {
  type Context = ParsedContext<Input> & ToolsContext<ToolSet>;
  return middy<unknown, Output, Error, Context>({ timeoutEarlyInMillis: 0 })
    .use(stepErrors())
    .use(logErrors(failureOf(id)))
    .use(parse(read))
    .use(withTools(ready))
    .handler((_event: unknown, context: Context) => handle(context.input, context.tools));
}

type Input<Id extends StepId> = z.output<(typeof steps)[Id]["input"]>;
type Output<Id extends StepId> = z.input<(typeof steps)[Id]["output"]>;
type StepTools<Id extends StepId> = Tools<(typeof steps)[Id]["uses"][number]>;

/** Turns a step of the state machine into its Lambda handler: input checked, tools as declared, errors named for ASL. */
export function step<const Id extends StepId>(
  id: Id,
  handle: (input: Input<Id>, tools: StepTools<Id>) => Promise<Output<Id>>,
) {
  const ready = prepareTools(steps[id].uses as readonly Capability[]) as () => Promise<StepTools<Id>>;
  return background(id, (event) => steps[id].input.parse(event) as Input<Id>, ready, handle);
}

const { remove } = removalSteps;

/** Turns the step of the removal's state machine into its Lambda handler. */
export function removalStep(
  handle: (
    input: z.output<typeof remove.input>,
    tools: Tools<(typeof remove.uses)[number]>,
  ) => Promise<z.input<typeof remove.output>>,
) {
  return background("remove", (event) => remove.input.parse(event), prepareTools(remove.uses), handle);
}

type ListenerTools<Id extends ListenerId> = Tools<(typeof listeners)[Id]["uses"][number]>;

/** Turns the handler of an event or a schedule into a Lambda; if its promise is rejected, the event is delivered again. */
export function listener<const Id extends ListenerId, S extends z.ZodType>(
  id: Id,
  schema: S,
  handle: (event: z.output<S>, tools: ListenerTools<Id>) => Promise<void>,
) {
  const ready = prepareTools(listeners[id].uses as readonly Capability[]) as () => Promise<ListenerTools<Id>>;
  return background(id, (event) => schema.parse(event), ready, handle);
}
