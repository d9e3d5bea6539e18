import type { Target } from "./configuration.ts";
import { Failure } from "./failure.ts";

/** The default build of a command: the project's newest. */
export async function newestBuild({ client, project }: Target): Promise<string> {
  const { builds } = await client.listBuilds({ ...project, limit: 1 });
  const [newest] = builds;
  if (newest === undefined) throw new Failure("The project has no build yet. Create one with: slipway deploy <folder>");
  return newest.id;
}
