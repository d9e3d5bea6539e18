import { Agent, type IncomingMessage, request as openRequest } from "node:http";
import { json, text } from "node:stream/consumers";
import * as z from "zod";

/** The engine refused or failed a call; the message is its own, for users. */
export class EngineRefused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The engine does not answer. */
export class EngineGone extends Error {}

export interface CallOptions {
  query?: Record<string, string | number | boolean> | undefined;
  body?: object | undefined;
  signal?: AbortSignal | undefined;
}

/** The HTTP interface of a Docker engine, for calls that are too frequent or too long for its command line. */
export interface EngineApi {
  /** Resolves with the parsed JSON body; throws EngineRefused or EngineGone. */
  call<S extends z.ZodType>(method: string, path: string, schema: S, options?: CallOptions): Promise<z.infer<S>>;
  /** Makes a call and ignores the answer's body; false if the engine answered with 304, 404 or 409. */
  perform(method: string, path: string, options?: CallOptions): Promise<boolean>;
  /** Resolves with an answer whose body is not read yet, such as a stream of output. */
  open(method: string, path: string, options?: CallOptions): Promise<IncomingMessage>;
  close(): void;
}

/** The first version of the interface that Docker Engine 23.0 has. */
const version = "/v1.42";
const refusal = z.object({ message: z.string() });

async function refused(answer: IncomingMessage): Promise<EngineRefused> {
  const body = await text(answer).catch(() => "");
  const parsed = refusal.safeParse(JSON.parse(body.startsWith("{") ? body : "{}"));
  return new EngineRefused(answer.statusCode ?? 500, parsed.success ? parsed.data.message : body.trim());
}

/** `socket`: the path of the engine's Unix socket. */
export function createEngineApi(socket: string): EngineApi {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 4 });

  function send(method: string, path: string, { query = {}, body, signal }: CallOptions): Promise<IncomingMessage> {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) search.set(name, String(value));
    const payload = body === undefined ? undefined : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const sent = openRequest({
        socketPath: socket,
        agent,
        method,
        path: `${version}${path}${search.size > 0 ? `?${search}` : ""}`,
        headers: payload === undefined ? {} : { "content-type": "application/json" },
        ...(signal && { signal }),
      });
      sent.once("response", resolve);
      sent.on("error", (error) => {
        // The engine may close an idle connection just when it is reused; a GET can be repeated.
        if (sent.reusedSocket && method === "GET" && !signal?.aborted)
          send(method, path, { query, signal }).then(resolve, reject);
        else
          reject(signal?.aborted ? error : new EngineGone("The container engine does not answer.", { cause: error }));
      });
      sent.end(payload);
    });
  }

  async function open(method: string, path: string, options: CallOptions = {}): Promise<IncomingMessage> {
    const answer = await send(method, path, options);
    if ((answer.statusCode ?? 500) >= 300) throw await refused(answer);
    return answer;
  }

  return {
    open,
    async call(method, path, schema, options) {
      const answer = await open(method, path, options);
      const body = await json(answer).catch((error: unknown) => {
        throw options?.signal?.aborted
          ? error
          : new EngineGone("The container engine does not answer.", { cause: error });
      });
      return schema.parse(body);
    },
    async perform(method, path, options) {
      try {
        const answer = await open(method, path, options);
        await text(answer);
        return answer.statusCode !== 304;
      } catch (error) {
        if (error instanceof EngineRefused && [304, 404, 409].includes(error.status)) return false;
        throw error;
      }
    },
    close: () => agent.destroy(),
  };
}
