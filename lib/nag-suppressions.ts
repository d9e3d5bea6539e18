import { Validations } from "aws-cdk-lib";
import type { Construct } from "constructs";

/** Notes on a construct which AwsSolutions rules it does not follow, and why: `{ "S1": "…" }`. */
export function acknowledge(scope: Construct, reasons: Record<string, string>): void {
  for (const [rule, reason] of Object.entries(reasons)) {
    Validations.of(scope).acknowledge({ id: `AwsSolutions-${rule}`, reason });
  }
}
