import type * as z from "zod";
import { imageBuildServices } from "../../statemachines/steps.ts";
import { runWithin } from "../aws/deadline.ts";
import { errorFields, log } from "../http/log.ts";
import { prepareTools } from "../http/tools.ts";
import { removeOldImages } from "./model/remove-old-images.ts";

const { input, uses } = imageBuildServices["grant-build-access"];
type Output = z.infer<(typeof imageBuildServices)["grant-build-access"]["output"]>;

const ready = prepareTools(uses);

/** How long the deletion of old images may take. */
const cleaningMs = 5_000;

/**
 * Gives a running image build access to its inputs and its repository. An image build runs users' code as root, so its own
 * role may only invoke this function. The caller is identified by the random id of its CodeBuild build. What it may access is
 * read from CodeBuild, never from the event. A repeated call returns new credentials. Errors are only logged.
 */
export const handler = async (event: unknown): Promise<Output> => {
  try {
    const { imageBuildId } = input.parse(event);
    const tools = await ready();
    const { imageBuilds } = tools;
    const inputs = await imageBuilds.running(imageBuildId);
    if (inputs === undefined) throw new Error("No image build of this service with this id is running");
    const now = new Date();
    const [buildAccess] = await Promise.all([
      imageBuilds.grant(inputs, now),
      imageBuilds.makeRepository(inputs.projectId),
      // Old images cost cents, so a build neither fails nor waits long because of them.
      runWithin(AbortSignal.timeout(cleaningMs), () => removeOldImages(inputs, tools, now)).catch((error) =>
        log("error", "Old images could not be deleted", { projectId: inputs.projectId, ...errorFields(error) }),
      ),
    ]);
    return buildAccess;
  } catch (error) {
    log("error", "grant-build-access failed", errorFields(error));
    throw new Error("The image build could not be given access.");
  }
};
