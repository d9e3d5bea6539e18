import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { engineOfTests } from "./engine.ts";
import type { Built } from "./image.ts";

interface Answer {
  status: number;
  type: string | null;
  body: string;
}

const docker = (...args: string[]) => engineOfTests().docker.run(args);

/** An image that runs in the engine. Dispose of it. */
export class Container {
  readonly #id: string;
  readonly #image: NonNullable<Built["image"]>;
  readonly #origin: string;

  static async start(image: NonNullable<Built["image"]>): Promise<Container> {
    const name = `slipway-test-${randomUUID()}`;
    await docker("run", "--detach", "--name", name, "--publish", `127.0.0.1::${portOf(image)}`, image.name);
    const address = await docker("port", name, String(portOf(image)));
    return new Container(image, name, `http://${address}`);
  }

  constructor(image: NonNullable<Built["image"]>, id: string, origin: string) {
    this.#image = image;
    this.#id = id;
    this.#origin = origin;
  }

  /** Asks the app, again until it answers. */
  async get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    const deadline = Date.now() + 30_000;
    for (;;) {
      try {
        const response = await fetch(`${this.#origin}${path}`, { headers });
        const type = response.headers.get("content-type");
        return { status: response.status, type, body: await response.text() };
      } catch (error) {
        if (Date.now() > deadline || (await this.#state("Running")) !== "true")
          throw new Error(`Nothing answers on port ${portOf(this.#image)}. The app said:\n${await this.log()}`, {
            cause: error,
          });
        await sleep(100);
      }
    }
  }

  #state(field: string): Promise<string> {
    return docker("inspect", "--format", `{{.State.${field}}}`, this.#id);
  }

  /** All output of the app. */
  log(): Promise<string> {
    return docker("logs", this.#id);
  }

  /** Runs a command as the app's user and gives its output. */
  run(...command: string[]): Promise<string> {
    return docker("exec", this.#id, ...command);
  }

  /** The content of a file in the container. */
  read(path: string): Promise<string> {
    return docker("exec", "--user", "0", this.#id, "cat", path);
  }

  /** Whether the container has this file or folder. */
  async has(path: string): Promise<boolean> {
    const listed = await docker(
      "exec",
      "--user",
      "0",
      this.#id,
      "sh",
      "-c",
      `test -e '${path}' && echo yes || echo no`,
    );
    return listed === "yes";
  }

  /** Sends the image's signal to the app, and after 10 s one that it cannot ignore. Resolves with its exit code. */
  async stop(): Promise<number> {
    await docker("stop", "--time", "10", this.#id);
    return Number(await this.#state("ExitCode"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await docker("rm", "--force", this.#id);
    await docker("rmi", "--force", this.#image.name);
  }
}

/** The port that the image declares. */
function portOf(image: NonNullable<Built["image"]>): number {
  return Number.parseInt(Object.keys(image.config.ExposedPorts)[0] ?? "", 10);
}
