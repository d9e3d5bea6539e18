import {
  CloudFormationClient,
  DescribeStacksCommand,
  paginateListStackResources,
  type StackResourceSummary,
} from "@aws-sdk/client-cloudformation";
import { imageRepositoryPrefix } from "../../lib/image-repositories.ts";

/** A deployed stack: its status and the resources that still exist. After an aborted teardown, some can be missing. */
export interface Deployed {
  stack: string;
  /** The CloudFormation status, such as UPDATE_COMPLETE. */
  status: string;
  apiAddress: string | undefined;
  cluster: string | undefined;
  stateMachineArn: string | undefined;
  /** All buckets, with the one for access logs. */
  buckets: string[];
  /** The prefix of its image repositories' names, before the slash. */
  repositoryPrefix: string;
  /** "aurora" if the stack has databases. */
  database: "aurora" | "none";
}

/** The CloudFormation status of a stack; `undefined` if it does not exist. */
export async function stackStatus(stack: string, cloudFormation: CloudFormationClient): Promise<string | undefined> {
  try {
    const { Stacks = [] } = await cloudFormation.send(new DescribeStacksCommand({ StackName: stack }));
    return Stacks[0]?.StackStatus;
  } catch (error) {
    if (error instanceof Error && /does not exist/.test(error.message)) return undefined;
    throw error;
  }
}

async function resourcesOf(stack: string, client: CloudFormationClient): Promise<StackResourceSummary[]> {
  const found: StackResourceSummary[] = [];
  for await (const page of paginateListStackResources({ client }, { StackName: stack })) {
    found.push(...(page.StackResourceSummaries ?? []));
  }
  return found.filter(({ ResourceStatus }) => ResourceStatus !== "DELETE_COMPLETE");
}

/** Finds a deployed stack; if it does not exist, the error says what to check. */
export async function findDeployed(stack: string, cloudFormation = new CloudFormationClient()): Promise<Deployed> {
  const status = await stackStatus(stack, cloudFormation);
  if (status === undefined) {
    throw new Error(
      `No stack "${stack}" is deployed in this account and region. Check the name, AWS_PROFILE and AWS_REGION.`,
    );
  }
  const [resources, region] = await Promise.all([resourcesOf(stack, cloudFormation), cloudFormation.config.region()]);
  const idsOf = (type: string) =>
    resources.flatMap(({ ResourceType, PhysicalResourceId }) =>
      ResourceType === type && PhysicalResourceId ? [PhysicalResourceId] : [],
    );
  const [api] = idsOf("AWS::ApiGatewayV2::Api");
  return {
    stack,
    status,
    apiAddress: api && `https://${api}.execute-api.${region}.amazonaws.com`,
    cluster: idsOf("AWS::ECS::Cluster")[0],
    stateMachineArn: idsOf("AWS::StepFunctions::StateMachine")[0],
    buckets: idsOf("AWS::S3::Bucket"),
    repositoryPrefix: imageRepositoryPrefix(stack),
    database: idsOf("AWS::RDS::DBCluster").length > 0 ? "aurora" : "none",
  };
}
