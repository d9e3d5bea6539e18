import {
  DescribeExecutionCommand,
  SendTaskSuccessCommand,
  SFNClient,
  StartExecutionCommand,
} from "@aws-sdk/client-sfn";
import type { DeploymentInput } from "../../statemachines/steps.ts";
import { clientDefaults, isNamed } from "./clients.ts";

export type StartResult = "running" | "ended";

export interface DeploymentStarter {
  /** Starts the execution named after the build, or returns the running one (the name makes this idempotent); "ended" if it has ended. */
  start(input: DeploymentInput): Promise<StartResult>;
}

export interface DeploymentResumer {
  /** Sends a waiting state its result; succeeds if the token has expired. */
  succeed(taskToken: string, output: object): Promise<void>;
}

export function deploymentStarter(environment: { STATE_MACHINE_ARN: string }): DeploymentStarter {
  const sfn = new SFNClient(clientDefaults());
  const stateMachineArn = environment.STATE_MACHINE_ARN;
  return {
    async start(input) {
      try {
        await sfn.send(
          new StartExecutionCommand({ stateMachineArn, name: input.buildId, input: JSON.stringify(input) }),
        );
        return "running";
      } catch (error) {
        if (!isNamed(error, "ExecutionAlreadyExists")) throw error;
      }
      const executionArn = `${stateMachineArn.replace(":stateMachine:", ":execution:")}:${input.buildId}`;
      const { status } = await sfn.send(new DescribeExecutionCommand({ executionArn }));
      return status === "RUNNING" || status === "PENDING_REDRIVE" ? "running" : "ended";
    },
  };
}

const notWaiting = (error: unknown) => isNamed(error, "TaskTimedOut", "TaskDoesNotExist", "InvalidToken");

export function deploymentResumer(): DeploymentResumer {
  const sfn = new SFNClient(clientDefaults());
  return {
    async succeed(taskToken, output) {
      try {
        await sfn.send(new SendTaskSuccessCommand({ taskToken, output: JSON.stringify(output) }));
      } catch (error) {
        if (!notWaiting(error)) throw error;
      }
    },
  };
}
