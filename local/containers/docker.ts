import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

/** A call of the `docker` program that failed; `message` is what it printed, for users. */
export class DockerFailed extends Error {
  readonly output: string;
  /** Null if the program could not be started or was ended. */
  readonly exitCode: number | null;
  /** `ENOENT` if there is no `docker` program. */
  readonly code: string | undefined;

  constructor(message: string, output: string, exitCode: number | null, code?: string) {
    super(message);
    this.output = output;
    this.exitCode = exitCode;
    this.code = code;
  }
}

export interface DockerOptions {
  /** An abort ends the program. */
  signal?: AbortSignal | undefined;
  input?: string | Buffer | undefined;
}

/** The `docker` program with the environment of one engine. */
export interface Docker {
  /** Runs it to its end and returns its output without the last line break; rejects with DockerFailed, after an abort with its AbortError. */
  run(args: readonly string[], options?: DockerOptions): Promise<string>;
  /** Starts it for calls that last, such as `logs --follow`. */
  start(args: readonly string[], stdio: StdioOptions): ChildProcess;
}

/** The variables with which `docker` finds its engine and its settings; apps and builds do not get others of this process. */
const passed = ["PATH", "HOME", "XDG_RUNTIME_DIR", "DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG"];

/** The part of an environment that `docker` needs. */
export function dockerEnvironment(environment: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(passed.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])));
}

export function createDocker(env: Record<string, string>): Docker {
  const start: Docker["start"] = (args, stdio) => spawn("docker", [...args], { env, stdio });
  return {
    start,
    async run(args, { signal, input } = {}) {
      const child = spawn("docker", [...args], { env, stdio: ["pipe", "pipe", "pipe"], ...(signal && { signal }) });
      // A program that ends early does not read its input.
      child.stdin.on("error", () => undefined).end(input);
      const outcome = Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
      const [output, problems] = await outcome.catch((error: NodeJS.ErrnoException) => {
        throw signal?.aborted ? error : new DockerFailed(error.message, "", null, error.code);
      });
      if (child.exitCode === 0) return output.trimEnd();
      const message = problems.trim() || `docker ${args[0]} ended without a message`;
      throw new DockerFailed(message, output, child.exitCode);
    },
  };
}
