export const containerName = "app";
export const logPrefix = "app";

/** The name of a project's service in ECS. The gateway can make it part of a host name, which has no underscore. */
export function serviceName(projectId: string): string {
  return `app-${projectId.replace("_", "-")}`;
}

/** The project that a service is named after; `undefined` for another name. */
export function projectOf(service: string): string | undefined {
  const [, body] = /^app-prj-([0-9a-z]{26})$/.exec(service) ?? [];
  return body && `prj_${body}`;
}

export const taskIdOf = (arn: string) => arn.slice(arn.lastIndexOf("/") + 1);

export const familyOf = (buildId: string) => `slipway-${buildId}`;

/** The build that a task definition was registered for: its family carries the build's id. */
export function buildOf(taskDefinition: string): string | null {
  return /task-definition\/slipway-(bld_[0-9a-z]{26}):\d+$/.exec(taskDefinition)?.[1] ?? null;
}

/** The log stream of a task's output, as the awslogs driver names it. */
export function taskLog(taskId: string): string {
  return `${logPrefix}/${containerName}/${taskId}`;
}

/** How long a paused deployment waits for an answer before ECS rolls it back by itself. */
export const hookTimeoutMinutes = 15;
