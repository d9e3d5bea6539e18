import { prepareBaseImages } from "../../scripts/images/base-images.ts";
import { areBaseImagesComing, testEngine } from "../harness/engine.ts";

/** Base images before the first test, or one line that says why there are none. */
export async function setup(): Promise<void> {
  const engine = await testEngine();
  const say = (line: string) => process.stderr.write(`image tests: ${line}\n`);
  if (engine.kind === "docker" && !areBaseImagesComing) await prepareBaseImages(engine.docker, say);
  if (engine.kind === "none") process.stderr.write(`image tests are skipped: ${engine.reason}\n`);
}
