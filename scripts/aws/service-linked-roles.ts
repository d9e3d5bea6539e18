import { setTimeout as sleep } from "node:timers/promises";
import { CreateServiceLinkedRoleCommand, type IAMClient, InvalidInputException } from "@aws-sdk/client-iam";

/** The AWS services that work in the account with a role of their own: for apps, their load balancers and databases. */
const services = ["ecs.amazonaws.com", "elasticloadbalancing.amazonaws.com", "rds.amazonaws.com"];

/** The time until a new role can be used everywhere: IAM is eventually consistent. */
const settledAfterSeconds = 15;

/** True if the role was created, false if it exists. */
async function create(iam: IAMClient, service: string): Promise<boolean> {
  try {
    await iam.send(new CreateServiceLinkedRoleCommand({ AWSServiceName: service }));
    return true;
  } catch (error) {
    if (error instanceof InvalidInputException && /has been taken/.test(error.message)) return false;
    throw error;
  }
}

/**
 * Creates the service-linked roles of an account that does not have them. ECS and RDS would create theirs with their first
 * resource and use it at once, before IAM knows it everywhere, so that the first deployment could fail and be rolled back.
 */
export async function createServiceLinkedRoles(
  iam: IAMClient,
  say: (line: string) => void,
  settleSeconds = settledAfterSeconds,
): Promise<void> {
  let isAnyNew = false;
  for (const service of services) {
    try {
      isAnyNew = (await create(iam, service)) || isAnyNew;
    } catch (error) {
      const reason = error instanceof Error ? error.name : String(error);
      say(
        `The role of ${service} could not be created (${reason}). If the deployment fails, run: aws iam create-service-linked-role --aws-service-name ${service}`,
      );
    }
  }
  if (isAnyNew) await sleep(settleSeconds * 1000);
}
