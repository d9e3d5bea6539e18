/** How the embedded Step Functions delivers status-change events. */
export interface StepFunctionsBehavior {
  /**
   * The times of the deliveries of an event, in milliseconds after the change. EventBridge gets these events on a best-effort
   * basis, so there may be none.
   */
  deliveriesMs(event: { executionArn: string; status: string }): readonly number[];
}

/** Delivers each event once, at once. */
export const kindStepFunctions: StepFunctionsBehavior = { deliveriesMs: () => [0] };

/** Delivers each event twice, late. */
export const cloudStepFunctions: StepFunctionsBehavior = { deliveriesMs: () => [300, 1_200] };
