import type { IncomingMessage } from "node:http";
import { json } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import * as z from "zod";
import type { TaskExit, TaskOutput } from "../ecs/task-runner.ts";
import { type EngineApi, EngineGone, EngineRefused } from "./engine-api.ts";
import type { EngineWatch } from "./engine-watch.ts";
import { createFrameReader } from "./output-frames.ts";

/** How long output is still read after the end of the container. */
const lateOutputMs = 1_000;
/** ECS's message. */
const outOfMemory = "OutOfMemoryError: Container killed due to memory usage";
const engineEnded = "The container engine was stopped or restarted while the app ran";

const exitSchema = z.object({ StatusCode: z.int() });
const stateSchema = z.object({
  State: z.object({ Running: z.boolean(), OOMKilled: z.boolean(), ExitCode: z.int() }),
});
type State = z.infer<typeof stateSchema>["State"];

/** The responses in which the engine sends the output of a container and its exit code. */
export interface Streams {
  output: IncomingMessage;
  exit: IncomingMessage;
}

/** Opens both before the container starts, so that nothing is lost. */
export async function openStreams(api: EngineApi, id: string): Promise<Streams> {
  const [output, exit] = await Promise.all([
    api.open("POST", `/containers/${id}/attach`, { query: { stream: true, stdout: true, stderr: true } }),
    api.open("POST", `/containers/${id}/wait`, { query: { condition: "next-exit" } }),
  ]);
  return { output, exit };
}

function pass(stream: IncomingMessage, output: TaskOutput): Promise<void> {
  const read = createFrameReader((name, chunk) => output.write(name, chunk));
  // Lines are stored before the next chunk is read, so that an app that writes faster has to wait.
  stream.on("data", read);
  return new Promise((resolve) => {
    stream.once("close", resolve).on("error", () => {});
  });
}

/** Follows a started container to its end, also if the engine restarts in between. */
export class RunningContainer {
  readonly id: string;
  readonly exited: Promise<TaskExit>;
  readonly #api: EngineApi;
  readonly #watch: EngineWatch;
  readonly #output: TaskOutput;
  readonly #givenUp = new AbortController();

  constructor(engine: { api: EngineApi; watch: EngineWatch }, id: string, streams: Streams, output: TaskOutput) {
    this.#api = engine.api;
    this.#watch = engine.watch;
    this.id = id;
    this.#output = output;
    this.exited = this.#follow(streams).finally(() => output.end());
  }

  async #follow(first: Streams): Promise<TaskExit> {
    let streams = first;
    for (;;) {
      const written = pass(streams.output, this.#output);
      const exit = await json(streams.exit).then(exitSchema.safeParse, () => undefined);
      await Promise.race([written, delay(lateOutputMs, undefined, { ref: false })]);
      streams.output.destroy();
      const code = exit?.success ? exit.data.StatusCode : undefined;
      const state = await this.#state();
      if (code !== undefined && state !== undefined && !state.Running)
        return { exitCode: code, ...(state.OOMKilled && { reason: outOfMemory }) };
      const again = await this.#reopen();
      if (!again) return { exitCode: undefined, reason: engineEnded };
      streams = again;
    }
  }

  async #state(): Promise<State | undefined> {
    const signal = this.#givenUp.signal;
    try {
      return (await this.#api.call("GET", `/containers/${this.id}/json`, stateSchema, { signal })).State;
    } catch (error) {
      this.#watch.note(error);
      return undefined;
    }
  }

  /** Waits for the engine, and opens the streams again if the container still runs (an engine with live restore). */
  async #reopen(): Promise<Streams | undefined> {
    try {
      await this.#watch.answering(this.#givenUp.signal);
      if (!(await this.#state())?.Running) return undefined;
      return await openStreams(this.#api, this.id);
    } catch {
      return undefined;
    }
  }

  /** The engine sends SIGTERM, and SIGKILL after this time. If the engine does not answer, the container counts as ended. */
  async stop(graceMs: number): Promise<void> {
    try {
      await this.#api.perform("POST", `/containers/${this.id}/stop`, { query: { t: Math.ceil(graceMs / 1000) } });
    } catch (error) {
      if (this.#watch.note(error) instanceof EngineGone) this.#givenUp.abort();
      else if (!(error instanceof EngineRefused)) throw error;
    }
    await this.exited;
  }
}
