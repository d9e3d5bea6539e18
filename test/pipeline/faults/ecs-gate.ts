import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { signedHeaders } from "../../harness/signing.ts";

export interface EcsGate {
  endpoint: string;
  /** The endpoint to which calls are forwarded. */
  target: string;
  /** If set, every call fails: with this error, a closed connection, or no answer. */
  fails: "ThrottlingException" | "closed" | "silent" | undefined;
  /** Returns the JSON body that replaces a call's own. */
  rewrite: ((operation: string, body: string) => string) | undefined;
  close(): Promise<void>;
}

/** Starts a proxy between the service and ECS that simulates faults. */
export async function openEcsGate(): Promise<EcsGate> {
  const gate: EcsGate = {
    endpoint: "",
    target: "",
    fails: undefined,
    rewrite: undefined,
    close: async () => undefined,
  };
  const server = createServer(async (request, response) => {
    if (gate.fails === "silent") return;
    if (gate.fails === "closed") return void request.socket.destroy();
    if (gate.fails) {
      request.resume();
      response.writeHead(400, { "content-type": "application/x-amz-json-1.1" });
      return void response.end(JSON.stringify({ __type: gate.fails, message: "Rate exceeded" }));
    }
    const to = new URL(gate.target);
    const { "x-amz-target": target = "", "content-type": type = "" } = request.headers;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString("utf8");
    const body = Buffer.from(gate.rewrite?.(String(target).split(".")[1] ?? "", text) ?? text);
    // The signature covers the host, so the proxy signs the forwarded request again.
    const headers = await signedHeaders(
      { url: to.href, headers: { "x-amz-target": String(target), "content-type": type }, body, service: "ecs" },
      {
        accessKeyId: process.env.AWS_ACCESS_KEY_ID ?? "",
        secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY ?? "",
      },
    );
    const sent = httpRequest({ host: to.hostname, port: to.port, path: "/", method: "POST", headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    sent.on("error", () => request.socket.destroy());
    sent.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  gate.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  gate.close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return gate;
}
