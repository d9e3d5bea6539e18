import { randomBytes } from "node:crypto";
import * as z from "zod";
import { type AwsServer, startHttpServer } from "../aws/http-server.ts";
import { AwsError, jsonError, parseJson } from "../aws/service.ts";
import type { DockerEngine } from "../containers/engine.ts";
import { runBuildspec } from "./buildspec-shell.ts";
import { BuildFailed, type ImageBuilder } from "./image.ts";
import { buildMinutes } from "./limits.ts";
import { lineWriter } from "./line-writer.ts";

/** Calls a function as `aws lambda invoke` does: an error of the function is an answer. */
export type InvokeFunction = (name: string, payload: object) => Promise<unknown>;

const accessFunction = "grant-build-access";
const questionBytesMax = 64 * 1024;

/** Starts the stand-in for Lambda, which one build may call while it runs. */
function startAccessServer(path: string, invoke: InvokeFunction): Promise<AwsServer> {
  return startHttpServer({
    bodyBytesMax: questionBytesMax,
    errorAnswer: jsonError,
    async handle(call) {
      if (call.path !== path) throw new AwsError("ResourceNotFoundException", "There is no such function", 404);
      const payload = parseJson(await call.readBody());
      const answer = await invoke(accessFunction, payload).catch((error: unknown) => ({
        errorType: "Error",
        errorMessage: String(error),
      }));
      return { status: 200, body: JSON.stringify(answer) };
    },
  });
}

/**
 * Builds images as CodeBuild does on AWS: the same buildspec, by the BuildKit of a Docker engine, pushed to the embedded
 * ECR. `registryHost` is ECR's address, and `repositories` the prefix of the projects' repositories.
 */
export function createContainerBuilder(options: {
  engine: DockerEngine;
  registryHost: string;
  repositories: string;
  /** Labels of the images in the engine. */
  labels?: Readonly<Record<string, string>>;
  invoke: InvokeFunction;
}): ImageBuilder {
  const { engine, registryHost, repositories, labels = {}, invoke } = options;
  return async ({ id, folder, variables, put, signal }) => {
    const path = `/${randomBytes(16).toString("hex")}`;
    const access = await startAccessServer(path, invoke);
    try {
      const write = lineWriter(put);
      const result = await runBuildspec({
        folder,
        engine,
        labels,
        variables: {
          ...variables,
          CODEBUILD_BUILD_ID: id,
          ACCESS_FUNCTION: accessFunction,
          IMAGE_REPOSITORY: `${registryHost}/${repositories}`,
        },
        accessUrl: `${access.endpoint}${path}`,
        signal,
        onOutput: write,
      });
      write(Buffer.from("\n"));
      if (result.endedBy === "timeout") throw new BuildFailed(`The build took longer than ${buildMinutes} minutes`);
      const digest = z
        .string()
        .regex(/^sha256:[0-9a-f]{64}$/)
        .safeParse(result.digest);
      if (!digest.success) throw new BuildFailed("The image was not built.");
      return { IMAGE_DIGEST: digest.data };
    } finally {
      await access.close();
    }
  };
}
