import type { describeService } from "./describe/service.ts";
import type { DeploymentRecord } from "./records.ts";

/** A service as it was before a change; `service` is undefined when it did not exist. */
export interface PastView {
  service: ReturnType<typeof describeService> | undefined;
  deployments: DeploymentRecord[];
}

/** What services and lists of deployments are described as for a while after a change: AWS is eventually consistent. */
export class PastViews {
  readonly #staleMs: number;
  readonly #views = new Map<string, PastView & { until: number }>();

  constructor(staleMs: number) {
    this.#staleMs = staleMs;
  }

  /** Called before each change; a change during the time of an earlier one shows the state before both. */
  keep(serviceName: string, view: () => PastView): void {
    if (this.#staleMs === 0 || this.of(serviceName)) return;
    const { service, deployments } = view();
    this.#views.set(serviceName, {
      service,
      deployments: structuredClone(deployments),
      until: performance.now() + this.#staleMs,
    });
  }

  /** The view that is still shown, if any. */
  of(serviceName: string): PastView | undefined {
    const view = this.#views.get(serviceName);
    return view !== undefined && performance.now() < view.until ? view : undefined;
  }
}
