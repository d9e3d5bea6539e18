import { readFileSync } from "node:fs";
import { RemovalPolicy, Stack } from "aws-cdk-lib";
import type * as lambda from "aws-cdk-lib/aws-lambda";
import * as logs from "aws-cdk-lib/aws-logs";
import * as sfn from "aws-cdk-lib/aws-stepfunctions";
import { Construct } from "constructs";
import { imageBuildServices, steps } from "../statemachines/steps.ts";
import { type Allowance, roleFor, serviceOfThisAccount } from "./allow.ts";
import type { Functions } from "./functions.ts";
import { machineLogging } from "./machine-logging.ts";
import type { Resources } from "./resources.ts";

const definitionFile = new URL("../statemachines/deployment.asl.json", import.meta.url);

/** The token of a step in the definition: `AwaitUploadFunction` for `await-upload`. */
const tokenOf = (id: string) => `${id.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())}Function`;

/** The state machine of `statemachines/` and the Lambdas of its steps. */
export class Deployment extends Construct {
  readonly machine: sfn.StateMachine;
  readonly #resources: Resources;

  constructor(scope: Construct, id: string, props: { functions: Functions; resources: Resources }) {
    super(scope, id);
    this.#resources = props.resources;
    const { data, apps, imageBuild, stateMachine } = props.resources;
    const handlers = Object.entries(steps).map(([step, { uses, timeoutSeconds, memory }]) => ({
      step,
      handler: props.functions.add({
        id: step,
        folder: "pipeline",
        uses,
        timeoutSeconds,
        memory,
        description: "A step of the deployment.",
      }),
    }));
    this.#imageBuildServices(props.functions);
    const output = new logs.LogGroup(this, "Output", {
      // With other prefixes, the log delivery policy of Step Functions can exceed its size limit.
      logGroupName: `/aws/vendedlogs/states/${stateMachine.name}`,
      retention: logs.RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = roleFor(this, "Role", {
      description: "Runs deployments",
      assumedBy: serviceOfThisAccount("states.amazonaws.com", stateMachine.arn),
      allow: this.#allowances(handlers.map(({ handler }) => handler)),
    });
    this.machine = new sfn.StateMachine(this, "Machine", {
      stateMachineName: stateMachine.name,
      definitionBody: sfn.DefinitionBody.fromString(readFileSync(definitionFile, "utf8")),
      definitionSubstitutions: {
        ...Object.fromEntries(handlers.map(({ step, handler }) => [tokenOf(step), handler.functionArn])),
        ImageBuildProject: imageBuild.project.projectName,
        ArchivesBucket: data.archives.bucketName,
        ArtifactsBucket: data.artifacts.bucketName,
        ImageRepository: apps.images.uri,
      },
      role: role.withoutPolicyUpdates(),
      tracingEnabled: true,
      // Without execution data, the log contains no task tokens and inputs.
      logs: { destination: output, level: sfn.LogLevel.ALL, includeExecutionData: false },
      removalPolicy: RemovalPolicy.DESTROY,
    });
    // CloudFormation must create the role first: a state machine whose role does not allow logging is refused.
    this.machine.node.addDependency(role);
  }

  #imageBuildServices(functions: Functions): void {
    for (const [id, { uses, timeoutSeconds, memory }] of Object.entries(imageBuildServices)) {
      const description = "Invoked by a running image build.";
      functions.add({ id, folder: "pipeline", uses, timeoutSeconds, memory, description });
    }
  }

  #allowances(handlers: lambda.Function[]): Allowance[] {
    const syncRule = Stack.of(this).formatArn({
      service: "events",
      resource: "rule",
      resourceName: "StepFunctionsGetEventForCodeBuildStartBuildRule",
    });
    return [
      { actions: ["lambda:InvokeFunction"], resources: handlers.map((handler) => handler.functionArn) },
      {
        actions: ["codebuild:BatchGetBuilds", "codebuild:StartBuild", "codebuild:StopBuild"],
        resources: [this.#resources.imageBuild.project.projectArn],
      },
      { actions: ["events:DescribeRule", "events:PutRule", "events:PutTargets"], resources: [syncRule] },
      ...machineLogging,
    ];
  }
}
