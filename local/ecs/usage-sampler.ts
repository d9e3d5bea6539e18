import type { Cluster } from "./cluster.ts";
import { putUsage } from "./measurements.ts";
import type { ServiceController } from "./service-controller.ts";
import type { Task } from "./task.ts";

/** Measures the processor time and the memory of all services' tasks, as the agents of ECS do. */
export class UsageSampler {
  readonly #cluster: Cluster;
  readonly #services: ReadonlyMap<string, ServiceController>;
  readonly #timer: NodeJS.Timeout;
  readonly #last = new WeakMap<Task, { at: number; cpuSeconds: number }>();
  #sampling: Promise<void> = Promise.resolve();

  constructor(cluster: Cluster, services: ReadonlyMap<string, ServiceController>) {
    this.#cluster = cluster;
    this.#services = services;
    this.#timer = setInterval(() => {
      this.#sampling = this.#sampling.then(() => this.#sample()).catch(() => undefined);
    }, cluster.behavior.measureEveryMs).unref();
  }

  async #sample(): Promise<void> {
    const running = [...this.#services].flatMap(([service, { tasks }]) =>
      tasks.filter(({ record }) => record.lastStatus === "RUNNING").map((task) => this.#measure(service, task)),
    );
    await Promise.all(running);
  }

  async #measure(service: string, task: Task): Promise<void> {
    const used = await (await task.started)?.usage();
    if (!used) return;
    const { arns, metrics, host } = this.#cluster;
    const now = host.now();
    const { at, cpuSeconds } = this.#last.get(task) ?? { at: task.record.startedAt ?? now, cpuSeconds: 0 };
    this.#last.set(task, { at: now, cpuSeconds: used.cpuSeconds });
    const since = { ...used, cpuSeconds: Math.max(used.cpuSeconds - cpuSeconds, 0) };
    putUsage({ arns, metrics, service }, since, (now - at) / 1000, task.definition);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sampling;
  }
}
