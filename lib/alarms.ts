import { Annotations, ArnFormat, Stack } from "aws-cdk-lib";
import * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import * as events from "aws-cdk-lib/aws-events";
import { SnsTopic } from "aws-cdk-lib/aws-events-targets";
import * as sns from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import { Construct } from "constructs";
import { type AlarmDefinition, alarmDefinitions, graphs, type Monitored } from "./alarm-definitions.ts";
import { serviceOfThisAccount } from "./allow.ts";
import { executionDied } from "./events.ts";

const graphsPerRow = 3;

/** The alarms, the topic that they are sent to, and the dashboard. */
export class Alarms extends Construct {
  constructor(scope: Construct, id: string, props: Monitored & { email: string | undefined }) {
    super(scope, id);
    const topic = this.#topic(props.email);
    const definitions = alarmDefinitions(props);
    for (const definition of definitions) this.#alarm(definition, topic);
    this.#deadExecutions(topic, props);
    this.#dashboard(definitions, props);
  }

  /** Without a key of our own ($1 a month): the messages name alarms and executions, and hold no secret. */
  #topic(email: string | undefined): sns.Topic {
    const topic = new sns.Topic(this, "Topic", { enforceSSL: true });
    // The alarms of other accounts may not publish. For EventBridge, AWS supports no such condition here.
    const ownAlarms = Stack.of(this).formatArn({
      service: "cloudwatch",
      resource: "alarm",
      resourceName: "*",
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    topic.grantPublish(serviceOfThisAccount("cloudwatch.amazonaws.com", ownAlarms));
    if (email) topic.addSubscription(new EmailSubscription(email));
    else {
      Annotations.of(topic).addWarningV2(
        "slipway:alarmEmail",
        "The alarms have no recipient. Deploy with -c alarmEmail=name@example.com and confirm the message that AWS sends there.",
      );
    }
    return topic;
  }

  #alarm({ id, metric, above, periods, text }: AlarmDefinition, topic: sns.Topic): void {
    const [datapointsToAlarm, evaluationPeriods] = periods ?? [1, 1];
    const alarm = new cloudwatch.Alarm(this, id, {
      metric,
      threshold: above,
      comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
      datapointsToAlarm,
      evaluationPeriods,
      treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
      alarmDescription: text,
    });
    alarm.addAlarmAction(new SnsAction(topic));
    alarm.addOkAction(new SnsAction(topic));
  }

  /** Sends a message for each execution that failed, timed out or was aborted; alarms would need three metrics. */
  #deadExecutions(topic: sns.Topic, props: Monitored): void {
    const field = events.EventField.fromPath;
    const { stateMachine, removalMachine } = props.resources;
    const rules = [
      ["DeploymentsDied", stateMachine.arn, "Its build was ended and the project's lock released"],
      ["RemovalsDied", removalMachine.arn, "What it removes is left until the next execution, which starts by itself"],
    ] as const;
    for (const [id, arn, consequence] of rules) {
      const message = `The execution ${field("$.detail.name")} ended as ${field("$.detail.status")}. ${consequence}; the execution's history shows the cause.`;
      const rule = new events.Rule(this, id, { eventPattern: executionDied(arn) });
      const target = { message: events.RuleTargetInput.fromText(message), deadLetterQueue: props.events.lost };
      rule.addTarget(new SnsTopic(topic, target));
    }
  }

  #dashboard(definitions: AlarmDefinition[], props: Monitored): void {
    const all = [
      ...Object.entries(graphs(props)),
      ...definitions.map(({ id, metric }): [string, cloudwatch.IMetric] => [id, metric]),
    ].map(([title, metric]) => new cloudwatch.GraphWidget({ title, left: [metric], width: 8 }));
    const rows = Array.from({ length: Math.ceil(all.length / graphsPerRow) }, (_, row) =>
      all.slice(row * graphsPerRow, (row + 1) * graphsPerRow),
    );
    new cloudwatch.Dashboard(this, "Dashboard", { widgets: rows });
  }
}
