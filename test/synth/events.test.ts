import { expect, it } from "vitest";
import { listeners } from "../../statemachines/steps.ts";
import { ofType } from "./assembly.ts";
import { written } from "./policies.ts";

it("each listener is woken by its own event", () => {
  const wakes = ofType("AWS::Events::Rule").map(([, { Properties }]) => {
    const handler = written(Properties.Targets[0].Arn).replace(/^<Functions(\w+?)[0-9A-F]{8}>$/, "$1");
    return [handler, Properties.ScheduleExpression ?? Properties.EventPattern["detail-type"][0]];
  });
  expect(Object.fromEntries(wakes)).toMatchObject({
    archiveuploaded: "Object Created",
    fileuploaded: "Object Created",
    executionended: "Step Functions Execution Status Change",
    reconcilelocks: "rate(1 minute)",
  });
  expect(wakes).toHaveLength(Object.keys(listeners).length);
});

it("uploads wake for our two buckets only, executions for our machine and the ends that are no ends", () => {
  const patterns = ofType("AWS::Events::Rule").flatMap(([, { Properties }]) => Properties.EventPattern ?? []);
  const uploaded = patterns.filter((one) => one.source[0] === "aws.s3");
  const buckets = uploaded.map((one) => written(one.detail.bucket.name[0]).replace(/[0-9A-F]{8}>$/, ">"));
  expect(buckets.sort()).toEqual(["<DataArchives>", "<DataFiles>"]);
  const ended = patterns.find((one) => one.source[0] === "aws.states");
  expect(ended.detail.status).toEqual(["FAILED", "TIMED_OUT", "ABORTED"]);
  expect(written(ended.detail.stateMachineArn[0])).toMatch(/:stateMachine:Slipway-deployment$/);
});

it("an event that is not delivered, or not handled, lands in a queue, and someone is told", () => {
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

it("every alarm tells someone, also when it is over, and says what to do", () => {
  const [topic] = ofType("AWS::SNS::Topic")[0] ?? [];
  const alarms = ofType("AWS::CloudWatch::Alarm");
  expect(alarms.length).toBeGreaterThan(6);
  for (const [id, { Properties }] of alarms) {
    expect([id, Properties.AlarmActions, Properties.OKActions]).toEqual([id, [{ Ref: topic }], [{ Ref: topic }]]);
    expect(Properties.AlarmDescription.length).toBeGreaterThan(30);
    expect(Properties.TreatMissingData).toBe("notBreaching");
  }
});

it("CloudWatch may use the topic and its key", () => {
  const [, key] = ofType("AWS::KMS::Key").find(([id]) => id.startsWith("AlarmsKey")) ?? [];
  expect(JSON.stringify(key?.Properties.KeyPolicy)).toContain("cloudwatch.amazonaws.com");
  expect(JSON.stringify(ofType("AWS::SNS::TopicPolicy"))).toContain("cloudwatch.amazonaws.com");
});
