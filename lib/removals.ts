import { readFileSync } from "node:fs";
import { RemovalPolicy } from "aws-cdk-lib";
import * as logs from "aws-cdk-lib/aws-logs";
import * as sfn from "aws-cdk-lib/aws-stepfunctions";
import { Construct } from "constructs";
import { removalSteps } from "../statemachines/steps.ts";
import { roleFor, serviceOfThisAccount } from "./allow.ts";
import type { Functions } from "./functions.ts";
import { machineLogging } from "./machine-logging.ts";
import type { Resources } from "./resources.ts";

const definitionFile = new URL("../statemachines/removal.asl.json", import.meta.url);

/** The state machine that removes what belonged to deleted projects and databases, and its Lambda. */
export class Removals extends Construct {
  constructor(scope: Construct, id: string, props: { functions: Functions; resources: Resources }) {
    super(scope, id);
    const { removalMachine } = props.resources;
    const { uses, timeoutSeconds, memory } = removalSteps.remove;
    const remove = props.functions.add({
      id: "remove",
      folder: "pipeline",
      uses,
      timeoutSeconds,
      memory,
      description: "Removes what belonged to a deleted project or database.",
    });
    const output = new logs.LogGroup(this, "Output", {
      // With other prefixes, the log delivery policy of Step Functions can exceed its size limit.
      logGroupName: `/aws/vendedlogs/states/${removalMachine.name}`,
      retention: logs.RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = roleFor(this, "Role", {
      description: "Runs removals",
      assumedBy: serviceOfThisAccount("states.amazonaws.com", removalMachine.arn),
      allow: [{ actions: ["lambda:InvokeFunction"], resources: [remove.functionArn] }, ...machineLogging],
    });
    const machine = new sfn.StateMachine(this, "Machine", {
      stateMachineName: removalMachine.name,
      definitionBody: sfn.DefinitionBody.fromString(readFileSync(definitionFile, "utf8")),
      definitionSubstitutions: { RemoveFunction: remove.functionArn },
      role: role.withoutPolicyUpdates(),
      tracingEnabled: true,
      logs: { destination: output, level: sfn.LogLevel.ALL, includeExecutionData: false },
      removalPolicy: RemovalPolicy.DESTROY,
    });
    // CloudFormation must create the role first: a state machine whose role does not allow logging is refused.
    machine.node.addDependency(role);
  }
}
