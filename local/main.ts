import { resolve } from "node:path";
import type { Engine } from "./containers/engine.ts";
import { ContainersRefused, StartRefused } from "./start-refused.ts";

function portOf(text: string | undefined): number {
  if (text === undefined || text === "") return 4000;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  console.error(`PORT must be an integer from 0 to 65535, not ${JSON.stringify(text)}.`);
  process.exit(1);
}

// Only this user may read the files of this process and its children.
process.umask(0o077);
const home = resolve(process.env.SLIPWAY_HOME || ".slipway");
const port = portOf(process.env.PORT);
// Loaded after the variables have been checked, so that a mistake is reported at once.
const { startService } = await import("./service.ts");
const { laneLine, requireEngine } = await import("./containers/engine.ts");

/** Where containers cannot reach this machine, apps are processes, unless the user requires containers. */
async function startIn(engine: Engine): ReturnType<typeof startService> {
  try {
    const service = await startService({ home, port, engine });
    console.log(laneLine(engine));
    return service;
  } catch (error) {
    if (!(error instanceof ContainersRefused) || process.env.SLIPWAY_CONTAINERS === "docker") throw error;
    return startIn({ kind: "none", reason: error.message });
  }
}

try {
  const service = await startIn(await requireEngine(process.env));
  let stopping = false;
  const stop = (exitCode: number) => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), 5_000).unref();
    service.stop().then(
      () => process.exit(exitCode),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", () => stop(0));
  process.on("SIGINT", () => stop(0));
  service.lost.then((message) => {
    console.error(message);
    stop(1);
  });
  console.log(`Slipway is ready at ${service.baseUrl}`);
  // Browsers allow passkeys on localhost, but not on an IP address.
  console.log(`Console: http://localhost:${new URL(service.baseUrl).port}/console`);
  // The service runs without the link too, for example while the embedded DynamoDB is being restarted.
  const link = await service.newSignInLink().catch(() => "`npm run slipway console` prints the link");
  if (link) console.log(`Sign in, once within 15 minutes: ${link}`);
} catch (error) {
  console.error(error instanceof StartRefused ? error.message : error);
  process.exit(1);
}
