import type { describeService } from "./describe/service.ts";
import type { DeploymentRecord } from "./records.ts";

/** A service before a change; `service` is undefined if it did not exist. */
export interface StaleView {
  service: ReturnType<typeof describeService> | undefined;
  deployments: DeploymentRecord[];
}

/** Simulates the eventual consistency of AWS: after a change, descriptions and lists show the old state for some time. */
export class StaleViews {
  readonly #behavior: { staleMs: number };
  readonly #views = new Map<string, StaleView & { until: number }>();

  constructor(behavior: { staleMs: number }) {
    this.#behavior = behavior;
  }

  /** Must be called before each change. During the time of an earlier change, its old state stays visible. */
  keep(serviceName: string, view: () => StaleView): void {
    if (this.#behavior.staleMs === 0 || this.of(serviceName)) return;
    const { service, deployments } = view();
    this.#views.set(serviceName, {
      service,
      deployments: structuredClone(deployments),
      until: performance.now() + this.#behavior.staleMs,
    });
  }

  /** The old state that is still visible, if any. */
  of(serviceName: string): StaleView | undefined {
    const view = this.#views.get(serviceName);
    return view !== undefined && performance.now() < view.until ? view : undefined;
  }
}
