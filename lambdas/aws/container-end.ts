import { containerName } from "./app-names.ts";

interface Described {
  containers?: { name?: string | undefined; exitCode?: number | undefined; reason?: string | undefined }[] | undefined;
}

/** How the app's container in a task ended. ECS names a kill for memory only in the container's own reason. */
export function containerEnd({ containers }: Described): { exitCode: number | undefined; isOutOfMemory: boolean } {
  const container = containers?.find(({ name }) => name === containerName);
  return { exitCode: container?.exitCode, isOutOfMemory: container?.reason?.startsWith("OutOfMemory") ?? false };
}
