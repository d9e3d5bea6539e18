import { RemovalPolicy } from "aws-cdk-lib";
import * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import * as iam from "aws-cdk-lib/aws-iam";
import * as kms from "aws-cdk-lib/aws-kms";
import * as sns from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import { Construct } from "constructs";
import { sum, type Watch, type Watched, watches } from "./alarm-definitions.ts";

/** What wakes a person, and the page that person looks at. */
export class Alarms extends Construct {
  constructor(scope: Construct, id: string, props: Watched & { email: string | undefined }) {
    super(scope, id);
    const topic = this.#topic(props.email);
    const list = watches(props);
    for (const watch of list) {
      const [datapointsToAlarm, evaluationPeriods] = watch.periods ?? [1, 1];
      const alarm = new cloudwatch.Alarm(this, watch.id, {
        metric: watch.metric,
        threshold: watch.above,
        comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
        datapointsToAlarm,
        evaluationPeriods,
        treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
        alarmDescription: watch.text,
      });
      alarm.addAlarmAction(new SnsAction(topic));
      alarm.addOkAction(new SnsAction(topic));
    }
    this.#dashboard(list, props);
  }

  #topic(email: string | undefined): sns.Topic {
    const key = new kms.Key(this, "Key", {
      description: "Slipway: alarms",
      enableKeyRotation: true,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const cloudWatch = new iam.ServicePrincipal("cloudwatch.amazonaws.com");
    key.grantEncryptDecrypt(cloudWatch);
    const topic = new sns.Topic(this, "Topic", { masterKey: key, enforceSSL: true });
    topic.grantPublish(cloudWatch);
    if (email) topic.addSubscription(new EmailSubscription(email));
    return topic;
  }

  #dashboard(list: Watch[], { service, deployment }: Watched): void {
    const graph = (title: string, ...left: cloudwatch.IMetric[]) =>
      new cloudwatch.GraphWidget({ title, left, width: 8 });
    new cloudwatch.Dashboard(this, "Dashboard", {
      widgets: [
        [
          graph("API calls", service.api.metricCount(sum)),
          graph("API 4xx", service.api.metricClientError(sum)),
          graph("Deployments started", deployment.machine.metricStarted(sum)),
        ],
        list.map((watch) => graph(watch.id, watch.metric)),
      ],
    });
  }
}
