import { findEngine } from "../../local/containers/engine.ts";
import { prepareBaseImages } from "../../scripts/images/base-images.ts";
import { preparedFile } from "../harness/engine.ts";

/** Base images before the first test, or one line that says why there are none. CI makes them itself. */
export async function setup(): Promise<void> {
  if (preparedFile) return;
  const engine = await findEngine(process.env);
  const say = (line: string) => process.stderr.write(`image tests: ${line}\n`);
  if (engine.kind === "docker") await prepareBaseImages(engine.docker, say);
  if (engine.kind === "none") process.stderr.write(`image tests are skipped: ${engine.reason}\n`);
}
