import { DescribeExecutionCommand, SFNClient, StartExecutionCommand, StopExecutionCommand } from "@aws-sdk/client-sfn";
import type { RemovalInput } from "../../statemachines/steps.ts";
import { clientDefaults, isNamed } from "./clients.ts";

export interface RemovalStarter {
  /** How long functions that began before a deletion may still run. */
  readonly settleSeconds: number;
  /** Starts the execution of this attempt, or finds the running one; "ended" if it has ended. */
  start(removal: RemovalInput, attempt: number): Promise<"running" | "ended">;
}

export function removalStarter(environment: {
  REMOVAL_MACHINE_ARN: string;
  REMOVAL_SETTLE_SECONDS: string;
}): RemovalStarter {
  const sfn = new SFNClient(clientDefaults());
  const stateMachineArn = environment.REMOVAL_MACHINE_ARN;
  return {
    settleSeconds: Number(environment.REMOVAL_SETTLE_SECONDS),
    async start(removal, attempt) {
      const name = `${removal.id}-${attempt}`;
      try {
        await sfn.send(new StartExecutionCommand({ stateMachineArn, name, input: JSON.stringify(removal) }));
        return "running";
      } catch (error) {
        if (!isNamed(error, "ExecutionAlreadyExists")) throw error;
      }
      const executionArn = `${stateMachineArn.replace(":stateMachine:", ":execution:")}:${name}`;
      const { status } = await sfn.send(new DescribeExecutionCommand({ executionArn }));
      return status === "RUNNING" || status === "PENDING_REDRIVE" ? "running" : "ended";
    },
  };
}

export interface DeploymentStopper {
  /** Ends the execution of a build; succeeds if there is none. */
  stop(buildId: string): Promise<void>;
}

export function deploymentStopper(environment: { STATE_MACHINE_ARN: string }): DeploymentStopper {
  const sfn = new SFNClient(clientDefaults());
  const prefix = environment.STATE_MACHINE_ARN.replace(":stateMachine:", ":execution:");
  return {
    async stop(buildId) {
      const cause = "The project was deleted.";
      await sfn.send(new StopExecutionCommand({ executionArn: `${prefix}:${buildId}`, cause })).catch((error) => {
        if (!isNamed(error, "ExecutionDoesNotExist")) throw error;
      });
    },
  };
}
