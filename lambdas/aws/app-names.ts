export const containerName = "app";

/** What a task runs for: to serve requests, or a release command. */
export type TaskPurpose = "serve" | "release";

/** The beginning of the log streams of a project's apps. */
export const projectLogs = (projectId: string) => `${projectId}/`;

/** The same for the project's release commands. */
export const releaseLogs = (projectId: string) => `release/${projectId}/`;

/** What the awslogs driver puts before a task's stream; release commands are not output of the app. */
export function logPrefix(
  { projectId, buildId }: { projectId: string; buildId: string },
  purpose: TaskPurpose,
): string {
  return purpose === "serve" ? `${projectLogs(projectId)}${buildId}` : `${releaseLogs(projectId)}${buildId}`;
}

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

export const familyOf = (buildId: string, purpose: TaskPurpose = "serve") =>
  purpose === "serve" ? `slipway-${buildId}` : `slipway-release-${buildId}`;

/** The build that a task definition was registered for: its family carries the build's id. */
export function buildOf(taskDefinition: string): string | null {
  return /task-definition\/slipway-(bld_[0-9a-z]{26}):\d+$/.exec(taskDefinition)?.[1] ?? null;
}

interface TaskOfBuild {
  projectId: string;
  buildId: string;
  taskId: string;
}

/** The log stream of a task's output, as the awslogs driver names it. */
export function taskLog(task: TaskOfBuild): string {
  return `${logPrefix(task, "serve")}/${containerName}/${task.taskId}`;
}

/** The same for the task of a build's release command. */
export function releaseLog(task: TaskOfBuild): string {
  return `${logPrefix(task, "release")}/${containerName}/${task.taskId}`;
}

/** The build and the task that a log stream of an app belongs to. */
export function taskOfLog(stream: string): { buildId: string; taskId: string } | undefined {
  const [, buildId, taskId] = /^prj_\w+\/(bld_\w+)\/[^/]+\/([^/]+)$/.exec(stream) ?? [];
  return buildId === undefined || taskId === undefined ? undefined : { buildId, taskId };
}

/** How long a paused deployment waits for an answer before ECS rolls it back by itself. */
export const hookTimeoutMinutes = 15;

/** The beginning of the keys of a project's build values. */
export const buildValuesPrefix = (projectId: string) => `values/${projectId}/`;

/** Where the values of a build's variables are kept, to mask them in its output; never deleted while the project exists. */
export const buildValuesKey = (projectId: string, buildId: string) => `${buildValuesPrefix(projectId)}${buildId}.json`;

/** The name of a project's image repository, from the ARN that all of them begin with. */
export const repositoryNameOf = (repositoriesArn: string, projectId: string) =>
  `${repositoriesArn.replace(/^.*:repository\//, "")}/${projectId}`;
