import { ArnFormat, CfnOutput, Stack, type StackProps } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { routes } from "../api/index.ts";
import { operatorUses } from "../statemachines/steps.ts";
import { Alarms } from "./alarms.ts";
import { Apps } from "./apps.ts";
import { BaseImages } from "./base-images.ts";
import type { Bundle } from "./bundle.ts";
import { Data } from "./data.ts";
import { Database } from "./database.ts";
import { Deployment } from "./deployment.ts";
import { Events } from "./events.ts";
import { Functions } from "./functions.ts";
import { type ServedRoute, ServiceApi } from "./http-api.ts";
import { ImageBuild } from "./image-build.ts";
import { Network } from "./network.ts";
import { removalOf } from "./removal.ts";
import { Removals } from "./removals.ts";
import type { Resources } from "./resources.ts";
import type { Settings } from "./settings.ts";
import { Signers } from "./signers.ts";

export interface SlipwayProps extends StackProps {
  settings: Settings;
  bundle: Bundle;
  /** The API's routes; default: those of the contract. */
  routes?: readonly ServedRoute[];
}

/** The whole service in one stack, for any account and region. */
export class SlipwayStack extends Stack {
  /** The resources that capabilities allow functions to use. */
  readonly resources: Resources;

  constructor(scope: Construct, id: string, props: SlipwayProps) {
    super(scope, id, {
      description: "Slipway: deploys zip archives as health-checked apps with automatic rollback",
      ...props,
    });
    const service = new ServiceApi(this, "Service");
    const resources = this.#parts(props, service);
    this.resources = resources;
    const functions = new Functions(this, "Functions", { bundle: props.bundle.functions, resources });
    service.connect(functions, { routes: props.routes ?? routes, databases: resources.database !== undefined });
    const deployment = new Deployment(this, "Deployment", { functions, resources });
    new Removals(this, "Removals", { functions, resources });
    const events = new Events(this, "Events", { functions, resources });
    const operator = functions.add({
      id: "operator",
      folder: "operator",
      uses: operatorUses,
      timeoutSeconds: 60,
      memory: 512,
      description: "Operator commands: organizations, users, projects, databases, storages.",
    });
    new Alarms(this, "Alarms", { resources, service, functions, deployment, events, email: props.settings.alarmEmail });
    this.#outputs(service, operator.functionName);
  }

  #parts({ settings, bundle }: SlipwayProps, service: ServiceApi): Resources {
    const removal = removalOf(settings);
    const data = new Data(this, "Data", removal);
    const network = new Network(this, "Network", { database: settings.database === "aurora" });
    const apps = new Apps(this, "Apps", { network, removal });
    const baseImages = new BaseImages(this, "BaseImages");
    return {
      data,
      network,
      apps,
      signers: new Signers(this, "Signers", data),
      imageBuild: new ImageBuild(this, "ImageBuild", { data, apps, baseImages, buildspec: bundle.buildspec }),
      baseImages,
      database:
        settings.database === "aurora"
          ? new Database(this, "Database", { vpc: network.vpc, key: data.key, removal })
          : undefined,
      stateMachine: this.#machine("deployment"),
      removalMachine: this.#machine("removal"),
      serviceHost: service.host,
    };
  }

  /** A state machine's ARNs, built from its name: its definition refers to functions that refer to the state machine. */
  #machine(kind: "deployment" | "removal"): Resources["stateMachine"] {
    const name = `${this.stackName}-${kind}`;
    const arnOf = (resource: string, resourceName: string) =>
      this.formatArn({ service: "states", resource, resourceName, arnFormat: ArnFormat.COLON_RESOURCE_NAME });
    return { name, arn: arnOf("stateMachine", name), executionArns: arnOf("execution", `${name}:*`) };
  }

  #outputs(service: ServiceApi, operator: string): void {
    const outputs = {
      ApiAddress: { value: service.address, description: "The API's base address" },
      OperatorFunction: { value: operator, description: "The Lambda behind the operator commands" },
      FirstOrganization: {
        value: `npm run --silent operator -- create-organization '{"name":"Acme"}' --stack ${this.stackName}`,
        description: "How to create the first organization",
      },
    };
    for (const [id, output] of Object.entries(outputs)) new CfnOutput(this, id, output);
  }
}
