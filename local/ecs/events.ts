import { randomUUID } from "node:crypto";
import type { ServiceRecord, TaskRecord } from "./records.ts";

const eventsMax = 100;
const stoppedTasksMax = 20;
const stoppedTaskKeptMs = 3_600_000;

/** Adds a service event, newest first. */
export function addEvent(service: ServiceRecord, now: number, message: string): void {
  service.events.unshift({ id: randomUUID(), createdAt: now, message: `(service ${service.name}) ${message}` });
  service.events.length = Math.min(service.events.length, eventsMax);
}

/** Adds an event, or updates the time of an equal one that is not older than `since`. Returns true if it was added. */
export function repeatEvent(service: ServiceRecord, now: number, since: number, message: string): boolean {
  const text = `(service ${service.name}) ${message}`;
  const index = service.events.findIndex((event) => event.createdAt >= since && event.message === text);
  const [known] = index === -1 ? [] : service.events.splice(index, 1);
  if (!known) {
    addEvent(service, now, message);
    return true;
  }
  known.createdAt = now;
  service.events.unshift(known);
  return false;
}

/** Keeps a stopped task for DescribeTasks: the last 20 of a service, for at most an hour. */
export function keepStopped(service: ServiceRecord, now: number, task: TaskRecord): void {
  service.stoppedTasks.unshift(task);
  service.stoppedTasks = service.stoppedTasks
    .slice(0, stoppedTasksMax)
    .filter(({ stoppedAt }) => now - (stoppedAt ?? now) < stoppedTaskKeptMs);
}
