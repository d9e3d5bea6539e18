import type * as z from "zod";
import { imageBuildServices } from "../../statemachines/steps.ts";
import { errorFields, log } from "../http/log.ts";
import { prepareTools } from "../http/tools.ts";

const { input, uses } = imageBuildServices["grant-build-access"];
type Output = z.infer<(typeof imageBuildServices)["grant-build-access"]["output"]>;

const ready = prepareTools(uses);

/**
 * An image build runs strangers' code as root, so its own role may do nothing but ask this. Who asks proves it by the
 * random id that CodeBuild gave the build; what it gets follows from what CodeBuild knows of that build, never from the
 * question. Run again, it answers the same anew. Errors say nothing to the caller: the log has them.
 */
export const handler = async (event: unknown): Promise<Output> => {
  try {
    const { imageBuildId } = input.parse(event);
    const { imageBuilds } = await ready();
    const inputs = await imageBuilds.running(imageBuildId);
    if (inputs === undefined) throw new Error("The question came from no image build of ours that runs");
    const [buildAccess] = await Promise.all([
      imageBuilds.grant(inputs, new Date()),
      imageBuilds.makeRepository(inputs.projectId),
    ]);
    return buildAccess;
  } catch (error) {
    log("error", "grant-build-access failed", errorFields(error));
    throw new Error("The image build could not be given access.");
  }
};
