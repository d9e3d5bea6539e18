import type * as z from "zod";
import { imageBuildServices } from "../../statemachines/steps.ts";
import { errorFields, log } from "../http/log.ts";
import { prepareTools } from "../http/tools.ts";

const { input, uses } = imageBuildServices["grant-build-access"];
type Output = z.infer<(typeof imageBuildServices)["grant-build-access"]["output"]>;

const ready = prepareTools(uses);

/**
 * Gives a running image build access to its inputs and its repository. An image build runs users' code as root, so its own
 * role may only invoke this function. The caller is identified by the random id of its CodeBuild build. What it may access is
 * read from CodeBuild, never from the event. A repeated call returns new credentials. Errors are only logged.
 */
export const handler = async (event: unknown): Promise<Output> => {
  try {
    const { imageBuildId } = input.parse(event);
    const { imageBuilds } = await ready();
    const inputs = await imageBuilds.running(imageBuildId);
    if (inputs === undefined) throw new Error("No image build of this service with this id is running");
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
