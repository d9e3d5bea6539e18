import { Validations } from "aws-cdk-lib";
import type { Construct } from "constructs";

/** Suppresses AwsSolutions rules of cdk-nag on a construct, each with its reason: `{ "S1": "…" }`. */
export function suppressNag(scope: Construct, reasons: Record<string, string>): void {
  for (const [rule, reason] of Object.entries(reasons)) {
    Validations.of(scope).acknowledge({ id: `AwsSolutions-${rule}`, reason });
  }
}
