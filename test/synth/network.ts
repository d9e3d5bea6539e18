import { expect, it } from "vitest";
import { ofType, withoutDatabase } from "./assembly.ts";
import { functions, trustOf, written } from "./policies.ts";

it("the network has no idle costs: no NAT gateway, address, load balancer or endpoint", () => {
  for (const type of [
    "AWS::EC2::NatGateway",
    "AWS::EC2::EIP",
    "AWS::ElasticLoadBalancingV2::LoadBalancer",
    "AWS::EC2::VPCEndpoint",
    "AWS::ECS::Service",
  ]) {
    expect([type, ofType(type).length]).toEqual([type, 0]);
  }
});

it("apps accept connections only from the load balancers, so that apps cannot reach each other", () => {
  const tasks = ofType("AWS::EC2::SecurityGroup").find(([id]) => id.startsWith("NetworkTasks"));
  expect(tasks?.[1].Properties.SecurityGroupIngress).toBeUndefined();
  const rules = ofType("AWS::EC2::SecurityGroupIngress").map(([, { Properties: p }]) => [
    written(p.GroupId),
    written(p.SourceSecurityGroupId),
    p.CidrIp,
  ]);
  const ingress = ofType("AWS::EC2::SecurityGroup").find(([id]) => id.startsWith("NetworkIngress"))?.[0];
  expect(rules).toEqual([[`<${tasks?.[0]}>`, `<${ingress}>`, undefined]]);
});

it("the load balancers accept connections from everywhere, only on port 443", () => {
  const ingress = ofType("AWS::EC2::SecurityGroup").find(([id]) => id.startsWith("NetworkIngress"))?.[1];
  expect(ingress?.Properties.SecurityGroupIngress).toEqual([
    expect.objectContaining({ CidrIp: "0.0.0.0/0", FromPort: 443, ToPort: 443, IpProtocol: "tcp" }),
  ]);
});

it("the gateway covers the apps' subnets, sends probes to the new version and belongs to the cluster", () => {
  const [id, gateway] = ofType("AWS::ECS::Gateway")[0] ?? [];
  const configuration = gateway?.Properties.Configuration.HostSharedAlb;
  const variablesOf = (id: string) => functions().find((one) => one.id === id)?.environment;
  const variables = { ...variablesOf("deploy"), ...variablesOf("check-health") };
  expect(written(variables.APP_SUBNETS).split(",")).toEqual(configuration.NetworkConfiguration.Subnets.map(written));
  expect(configuration.TestTrafficRules.Header).toEqual({
    Name: variables.PROBE_HEADER_NAME,
    Values: [variables.PROBE_HEADER_VALUE],
  });
  expect(written(configuration.NetworkConfiguration.InboundSecurityGroup)).toMatch(/^<NetworkIngress/);
  expect(gateway?.Properties.DeletionProtection).toBe(true);
  const [, association] = ofType("AWS::ECS::GatewayClusterAssociations")[0] ?? [];
  expect(written(association?.Properties.Gateway)).toBe(`<${id}>`);
});

it("the image build has no VPC, a time-out, and runs on ARM", () => {
  const [, project] = ofType("AWS::CodeBuild::Project")[0] ?? [];
  expect(project?.Properties.VpcConfig).toBeUndefined();
  expect(project?.Properties).toMatchObject({
    TimeoutInMinutes: 20,
    Environment: { Type: "ARM_CONTAINER", ComputeType: "BUILD_GENERAL1_SMALL", PrivilegedMode: true },
    Source: { Type: "NO_SOURCE" },
  });
});

it("without databases there is no cluster, no route that would need one, and nothing else is missing", () => {
  const found = Object.values(withoutDatabase().resources);
  const ofOneType = (type: string) => found.filter(({ Type }) => Type === type);
  expect(ofOneType("AWS::RDS::DBCluster")).toHaveLength(0);
  expect(ofOneType("AWS::DynamoDB::Table")).toHaveLength(1);
  const paths = Object.keys(ofOneType("AWS::ApiGatewayV2::Api")[0]?.Properties.Body.paths);
  expect(paths.length).toBeGreaterThan(15);
  expect(paths.filter((path) => path.includes("{tableName}"))).toEqual([]);
});

it("the load balancers' group has the tag that the gateway's role needs to change it, and no other group has", () => {
  const tagged = ofType("AWS::EC2::SecurityGroup").filter(([, { Properties }]) =>
    Properties.Tags?.some(
      (tag: { Key: string; Value: string }) => tag.Key === "AmazonECSManaged" && tag.Value === "true",
    ),
  );
  expect(tagged.map(([id]) => id.replace(/[0-9A-F]{8}$/, ""))).toEqual(["NetworkIngress"]);
});

it("refused traffic is recorded, and the role that records it can do nothing else", () => {
  const [, flow] = ofType("AWS::EC2::FlowLog")[0] ?? [];
  expect(flow?.Properties).toMatchObject({ ResourceType: "VPC", TrafficType: "REJECT" });
  const role = written(flow?.Properties.DeliverLogsPermissionArn).slice(1, -1);
  expect(trustOf(role)).toEqual(["vpc-flow-logs.amazonaws.com"]);
  const policies = ofType("AWS::IAM::Policy").map(([, { Properties }]) => Properties);
  expect(policies.map(({ Roles }) => Roles.map(written))).toEqual([[`<${role}>`]]);
  const group = written(flow?.Properties.LogGroupName);
  expect(group).toMatch(/^<NetworkRefusedTraffic/);
  expect(policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)).toEqual([
    {
      Action: ["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
      Effect: "Allow",
      Resource: { "Fn::GetAtt": [group.slice(1, -1), "Arn"] },
    },
  ]);
});
