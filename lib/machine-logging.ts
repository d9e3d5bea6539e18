import type { Allowance } from "./allow.ts";

/** What a state machine needs to log and to trace. */
export const machineLogging: readonly Allowance[] = [
  {
    actions: [
      "logs:CreateLogDelivery",
      "logs:DeleteLogDelivery",
      "logs:DescribeLogGroups",
      "logs:DescribeResourcePolicies",
      "logs:GetLogDelivery",
      "logs:ListLogDeliveries",
      "logs:PutResourcePolicy",
      "logs:UpdateLogDelivery",
    ],
    resources: ["*"],
    because: "Log deliveries have no resource.",
  },
  {
    actions: ["xray:GetSamplingRules", "xray:GetSamplingTargets", "xray:PutTelemetryRecords", "xray:PutTraceSegments"],
    resources: ["*"],
    because: "X-Ray has no resource to write to.",
  },
];
