import * as z from "zod";
import { deploymentInput } from "../../statemachines/steps.ts";
import { listener } from "../http/step.ts";
import { endOrphanedBuild } from "./model/end-orphaned-build.ts";

const statusChange = z.object({
  detail: z.object({
    status: z.enum(["FAILED", "TIMED_OUT", "ABORTED"]),
    input: z.string().transform((text, context) => {
      const parsed = deploymentInput.safeParse(JSON.parse(text));
      if (parsed.success) return parsed.data;
      context.issues.push({ code: "custom", message: "not a deployment", input: text });
      return z.NEVER;
    }),
  }),
});

/** Ends the build of an execution that failed, timed out or was aborted, and releases the project's lock. */
export const handler = listener("execution-ended", statusChange, async ({ detail }, tools) => {
  await endOrphanedBuild(detail.input, tools);
});
