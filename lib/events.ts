import { Duration, RemovalPolicy } from "aws-cdk-lib";
import * as events from "aws-cdk-lib/aws-events";
import * as targets from "aws-cdk-lib/aws-events-targets";
import { SqsDestination } from "aws-cdk-lib/aws-lambda-destinations";
import * as sqs from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { type ListenerId, listeners } from "../statemachines/steps.ts";
import type { Functions } from "./functions.ts";
import { suppressNag } from "./nag-suppressions.ts";
import type { Resources } from "./resources.ts";

const objectCreated = (bucket: string): events.EventPattern => ({
  source: ["aws.s3"],
  detailType: ["Object Created"],
  detail: { bucket: { name: [bucket] } },
});

/** Executions of a state machine that failed, timed out or were aborted. */
export const executionDied = (stateMachineArn: string): events.EventPattern => ({
  source: ["aws.states"],
  detailType: ["Step Functions Execution Status Change"],
  detail: { stateMachineArn: [stateMachineArn], status: ["FAILED", "TIMED_OUT", "ABORTED"] },
});

/** The event or schedule that starts each listener. */
const triggers: Record<ListenerId, (r: Resources) => Pick<events.RuleProps, "eventPattern" | "schedule">> = {
  "archive-uploaded": (r) => ({ eventPattern: objectCreated(r.data.archives.bucketName) }),
  "file-uploaded": (r) => ({ eventPattern: objectCreated(r.data.files.bucketName) }),
  "execution-ended": (r) => ({ eventPattern: executionDied(r.stateMachine.arn) }),
  "reconcile-locks": () => ({ schedule: events.Schedule.rate(Duration.minutes(1)) }),
};

/** The listeners of `statemachines/steps.ts` with the events that start them, and their common dead-letter queue. */
export class Events extends Construct {
  /** Events that were not delivered, and events that a listener failed to handle. */
  readonly lost: sqs.Queue;

  constructor(scope: Construct, id: string, props: { functions: Functions; resources: Resources }) {
    super(scope, id);
    this.lost = new sqs.Queue(this, "Lost", {
      encryption: sqs.QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
      removalPolicy: RemovalPolicy.DESTROY,
    });
    suppressNag(this.lost, { SQS3: "This is the dead-letter queue." });
    for (const [id, { uses, timeoutSeconds, memory }] of Object.entries(listeners)) {
      if (!isListener(id)) continue;
      const handler = props.functions.add({
        id,
        folder: "pipeline",
        uses,
        timeoutSeconds,
        memory,
        description: "Listens to events of the deployment.",
        allow: [{ actions: ["sqs:SendMessage"], resources: [this.lost.queueArn] }],
        onFailure: new SqsDestination(this.lost),
      });
      const rule = new events.Rule(this, `${id}-rule`, triggers[id](props.resources));
      const every = id === "reconcile-locks" ? { retryAttempts: 0, maxEventAge: Duration.minutes(1) } : {};
      rule.addTarget(new targets.LambdaFunction(handler, { deadLetterQueue: this.lost, ...every }));
    }
  }
}

function isListener(id: string): id is ListenerId {
  return id in listeners;
}
