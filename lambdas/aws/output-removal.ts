import {
  CloudWatchLogsClient,
  DeleteLogStreamCommand,
  DescribeLogStreamsCommand,
} from "@aws-sdk/client-cloudwatch-logs";
import { projectLogs, releaseLogs } from "./app-names.ts";
import { clientDefaults, isNamed } from "./clients.ts";

export interface OutputRemover {
  /** Deletes the output of the project's apps and release commands. */
  removeApps(projectId: string): Promise<void>;
  /** Deletes the output of image builds, by the names of their log streams. */
  removeBuilds(streams: readonly string[]): Promise<void>;
}

/** CloudWatch Logs allows few deletions a second, so they go one by one. */
export function outputRemover(environment: { APP_LOG_GROUP: string; BUILD_LOG_GROUP: string }): OutputRemover {
  const logs = new CloudWatchLogsClient(clientDefaults());

  async function remove(logGroupName: string, logStreamName: string): Promise<void> {
    await logs.send(new DeleteLogStreamCommand({ logGroupName, logStreamName })).catch((error) => {
      if (!isNamed(error, "ResourceNotFoundException")) throw error;
    });
  }

  async function removeBelow(logGroupName: string, logStreamNamePrefix: string): Promise<void> {
    for (;;) {
      const page = await logs
        .send(new DescribeLogStreamsCommand({ logGroupName, logStreamNamePrefix }))
        .catch((error) => {
          // The local service makes the group with its first line.
          if (!isNamed(error, "ResourceNotFoundException")) throw error;
        });
      const names = (page?.logStreams ?? []).flatMap(({ logStreamName }) => logStreamName ?? []);
      if (names.length === 0) return;
      for (const name of names) await remove(logGroupName, name);
    }
  }

  return {
    async removeApps(projectId) {
      await removeBelow(environment.APP_LOG_GROUP, projectLogs(projectId));
      await removeBelow(environment.APP_LOG_GROUP, releaseLogs(projectId));
    },
    async removeBuilds(streams) {
      for (const stream of streams) await remove(environment.BUILD_LOG_GROUP, stream);
    },
  };
}
