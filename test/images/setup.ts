import { prepareBaseImages } from "../../scripts/images/base-images.ts";
import { noImagesBecause } from "../../scripts/images/buildah.ts";

/** Base images before the first test, or one line that says why there is none. */
export async function setup(): Promise<void> {
  const reason = noImagesBecause();
  const say = (line: string) => process.stderr.write(`image tests: ${line}\n`);
  if (reason === null) await prepareBaseImages(say);
  else process.stderr.write(`image tests are skipped: ${reason}\n`);
}
