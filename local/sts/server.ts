import { type AwsServer, startHttpServer } from "../aws/http-server.ts";
import { AwsError, jsonError, type RawService } from "../aws/service.ts";

const bodyBytesMax = 64 * 1024;

/**
 * The port that deployed apps know: STS and the credentials of their task. Its services authenticate their callers
 * themselves, and a key that is good here is good for nothing else.
 */
export function startStsServer(services: RawService[], port = 0): Promise<AwsServer> {
  return startHttpServer({
    port,
    bodyBytesMax,
    errorAnswer: jsonError,
    async handle({ method, path, query, headers, readBody }) {
      const request = { method, path, query, headers, body: await readBody() };
      for (const service of services) {
        const response = await service(request);
        if (response) return response;
      }
      throw new AwsError("UnknownOperationException", `${method} ${path} is not served here`, 404);
    },
  });
}
