import type { App } from "aws-cdk-lib";
import { expect, it, onTestFinished, vi } from "vitest";
import { log } from "../../lambdas/http/log.ts";
import { listeners } from "../../statemachines/steps.ts";
import { ofType, slipwayApp, synthesized } from "./assembly.ts";
import { resourcePolicies, written } from "./policies.ts";

const rulesTo = (target: RegExp) =>
  ofType("AWS::Events::Rule").filter(([, { Properties }]) => target.test(written(Properties.Targets[0].Arn)));

it("each listener is started by its own event", () => {
  const triggers = rulesTo(/^<Functions/).map(([, { Properties }]) => {
    const handler = written(Properties.Targets[0].Arn).replace(/^<Functions(\w+?)[0-9A-F]{8}>$/, "$1");
    return [handler, Properties.ScheduleExpression ?? Properties.EventPattern["detail-type"][0]];
  });
  expect(Object.fromEntries(triggers)).toMatchObject({
    archiveuploaded: "Object Created",
    fileuploaded: "Object Created",
    executionended: "Step Functions Execution Status Change",
    reconcilelocks: "rate(1 minute)",
  });
  expect(triggers).toHaveLength(Object.keys(listeners).length);
});

it("the rules match uploads to our two buckets, and failed, timed-out or aborted executions of our state machine", () => {
  const patterns = ofType("AWS::Events::Rule").flatMap(([, { Properties }]) => Properties.EventPattern ?? []);
  const uploaded = patterns.filter((one) => one.source[0] === "aws.s3");
  const buckets = uploaded.map((one) => written(one.detail.bucket.name[0]).replace(/[0-9A-F]{8}>$/, ">"));
  expect(buckets.sort()).toEqual(["<DataArchives>", "<DataFiles>"]);
  const ended = patterns.find((one) => one.source[0] === "aws.states");
  expect(ended.detail.status).toEqual(["FAILED", "TIMED_OUT", "ABORTED"]);
  expect(written(ended.detail.stateMachineArn[0])).toMatch(/:stateMachine:Slipway-deployment$/);
});

it("an event that is not delivered or not handled goes to a queue with an alarm", () => {
  const [queue] = ofType("AWS::SQS::Queue")[0] ?? [];
  for (const [id, { Properties }] of ofType("AWS::Events::Rule")) {
    for (const target of Properties.Targets)
      expect([id, written(target.DeadLetterConfig?.Arn)]).toEqual([id, `<${queue}>`]);
  }
  const failures = ofType("AWS::Lambda::EventInvokeConfig").map(([, { Properties }]) =>
    written(Properties.DestinationConfig.OnFailure.Destination),
  );
  expect(failures).toEqual(Object.keys(listeners).map(() => `<${queue}>`));
  const watched = ofType("AWS::CloudWatch::Alarm").filter(([, one]) => JSON.stringify(one).includes(`"${queue}"`));
  expect(watched).toHaveLength(1);
});

it("only the stack's rules can add to the queue of lost events, and only over TLS", () => {
  const [queue] = ofType("AWS::SQS::Queue").map(([id]) => `<${id.slice(0, -8)}>`);
  const rules = ofType("AWS::Events::Rule").map(([id]) => `<${id.slice(0, -8)}>`);
  const all = resourcePolicies("AWS::SQS::QueuePolicy");
  const allowed = rules.map(
    (rule) => `Allow events.amazonaws.com sqs:SendMessage ${queue} if ArnEquals aws:SourceArn ${rule}`,
  );
  expect(all.toSorted()).toEqual([...allowed, `Deny * sqs:* ${queue} if Bool aws:SecureTransport false`].toSorted());
});

it("a lost event stays for two weeks, encrypted", () => {
  const [, queue] = ofType("AWS::SQS::Queue")[0] ?? [];
  expect(queue?.Properties).toEqual({ MessageRetentionPeriod: 14 * 24 * 3600, SqsManagedSseEnabled: true });
});

it("each listener can be invoked by its own rule only", () => {
  const invokers = ofType("AWS::Lambda::Permission").map(([, { Properties: p }]) =>
    [written(p.FunctionName), p.Action, p.Principal, written(p.SourceArn)].map((one) =>
      one.replace(/[0-9A-F]{8}>/, ">"),
    ),
  );
  const rules = rulesTo(/^<Functions/).map(([id, { Properties }]) => {
    const listener = written(Properties.Targets[0].Arn).replace(/[0-9A-F]{8}>$/, ">");
    return [listener, "lambda:InvokeFunction", "events.amazonaws.com", `<${id.slice(0, -8)}>`];
  });
  expect(invokers.sort()).toEqual(rules.sort());
});

it("a tick of the clock that is not delivered within its minute is dropped, because the next one follows", () => {
  const [, { Properties } = {}] = rulesTo(/^<Functionsreconcilelocks/)[0] ?? [];
  expect(Properties?.Targets[0].RetryPolicy).toEqual({ MaximumEventAgeInSeconds: 60, MaximumRetryAttempts: 0 });
});

it("each alarm uses a metric that changes in its case", () => {
  const alarms = ofType("AWS::CloudWatch::Alarm").map(([id, { Properties: p }]) => {
    const [{ Value } = { Value: undefined }] = p.Dimensions ?? [];
    const of = Value === undefined ? "" : ` of ${written(Value).replace(/[0-9A-F]{8}>$/, ">")}`;
    const name = id.replace(/^Alarms|[0-9A-F]{8}$/g, "");
    return `${name}: ${p.Statistic} of ${p.Namespace} ${p.MetricName}${of} > ${p.Threshold}`;
  });
  expect(alarms.sort()).toEqual([
    // HTTP APIs have the metric 5xx; 5XXError exists only for REST APIs.
    "ApiFaults: Sum of AWS/ApiGateway 5xx of <ServiceApi> > 5",
    // The metric of a whole cluster; a paused cluster sends no data.
    "DatabaseFull: Average of AWS/RDS ACUUtilization of <DatabaseCluster> > 90",
    // A dead-letter queue has no consumer, so the number of received messages would stay 0.
    "EventsLost: Maximum of AWS/SQS ApproximateNumberOfMessagesVisible of <EventsLost> > 0",
    "FunctionErrors: Sum of Slipway/Slipway ErrorLines > 20",
  ]);
});

it("an error that a function logs is what the metric filter counts", () => {
  const lines: string[] = [];
  const stdout = vi.spyOn(process.stdout, "write").mockImplementation((line) => lines.push(String(line)) > 0);
  onTestFinished(() => stdout.mockRestore());
  log("error", "something failed", {});
  log("info", "something happened", {});
  stdout.mockRestore();
  const [, filter] = ofType("AWS::Logs::MetricFilter")[0] ?? [];
  const [, field = "", value] = /^\{ \$\.(\w+) = "(\w+)" \}$/.exec(filter?.Properties.FilterPattern) ?? [];
  const matched = lines.map((line) => JSON.parse(line)).filter((line) => line[field] === value);
  expect(matched.map(({ message }) => message)).toEqual(["something failed"]);
  expect(written(filter?.Properties.LogGroupName)).toMatch(/^<FunctionsOutput/);
  expect(filter?.Properties.MetricTransformations).toMatchObject([
    { MetricName: "ErrorLines", MetricNamespace: "Slipway/Slipway", MetricValue: "1" },
  ]);
});

it("every alarm notifies the topic, also when it ends, and says what to do", () => {
  const [topic] = ofType("AWS::SNS::Topic")[0] ?? [];
  const alarms = ofType("AWS::CloudWatch::Alarm");
  expect(alarms).toHaveLength(4);
  for (const [id, { Properties }] of alarms) {
    expect([id, Properties.AlarmActions, Properties.OKActions]).toEqual([id, [{ Ref: topic }], [{ Ref: topic }]]);
    expect(Properties.AlarmDescription.length).toBeGreaterThan(30);
    expect(Properties.TreatMissingData).toBe("notBreaching");
  }
});

it("the event of a failed execution is sent to the topic", () => {
  const [topic] = ofType("AWS::SNS::Topic")[0] ?? [];
  const watched = rulesTo(/^<AlarmsTopic/).map(([, { Properties }]) => {
    const { status, stateMachineArn } = Properties.EventPattern.detail;
    expect(status).toEqual(["FAILED", "TIMED_OUT", "ABORTED"]);
    const [target] = Properties.Targets;
    expect([target.Arn, target.InputTransformer.InputPathsMap]).toEqual([
      { Ref: topic },
      { "detail-name": "$.detail.name", "detail-status": "$.detail.status" },
    ]);
    return written(stateMachineArn[0]).split(":").at(-1);
  });
  expect(watched.toSorted()).toEqual(["Slipway-deployment", "Slipway-removal"]);
});

it("alarms of this account and EventBridge may publish to the topic, over TLS, and it has no KMS key", () => {
  const [, topic] = ofType("AWS::SNS::Topic")[0] ?? [];
  expect(topic?.Properties?.KmsMasterKeyId).toBeUndefined();
  const all = resourcePolicies("AWS::SNS::TopicPolicy");
  expect(all).toEqual([
    "Deny * sns:Publish <AlarmsTopic> if Bool aws:SecureTransport false",
    "Allow cloudwatch.amazonaws.com sns:Publish <AlarmsTopic> if ArnLike aws:SourceArn arn:<Partition>:cloudwatch:<Region>:<AccountId>:alarm:* and StringEquals aws:SourceAccount <AccountId>",
    "Allow events.amazonaws.com sns:Publish <AlarmsTopic>",
  ]);
});

it("an idle stack pays for one key and four alarm metrics", () => {
  expect(ofType("AWS::KMS::Key").map(([id]) => id.replace(/[0-9A-F]{8}$/, ""))).toEqual(["DataKey"]);
  const metrics = ofType("AWS::CloudWatch::Alarm").flatMap(([, { Properties }]) => Properties.Metrics ?? [1]);
  expect(metrics).toHaveLength(4);
});

it("a deployment without an e-mail address for alarms has a warning", () => {
  const warnings = (app: App) =>
    app
      .synth()
      .stacks.flatMap(({ messages }) => messages)
      .filter(({ level }) => level === "warning")
      .map(({ entry }) => String(entry.data));
  // Without functions of routes, which have no part in it and take most of the time.
  expect(warnings(slipwayApp({ alarmEmail: undefined }, { routes: [] }).app)).toEqual([
    expect.stringContaining("Deploy with -c alarmEmail=name@example.com"),
  ]);
  expect(warnings(synthesized().app)).toEqual([]);
});
