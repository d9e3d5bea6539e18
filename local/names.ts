import { randomBytes } from "node:crypto";

/** The names of the local resources, which CloudFormation generates on AWS. */
export const region = "us-east-1";
export const account = "000000000000";

export const names = {
  table: "slipway",
  archives: "slipway-archives",
  artifacts: "slipway-artifacts",
  files: "slipway-files",
  cluster: "slipway",
  imageBuilds: "slipway-images",
  repositories: "slipway-apps",
  /** The prefix of images in task definitions; the embedded ECR replaces the first part with its address. */
  images: "local/slipway-apps",
  appLog: "/slipway/apps",
  buildLog: "/slipway/builds",
} as const;

export const roleArn = (role: string) => `arn:aws:iam::${account}:role/slipway-${role}`;
export const stateMachineArn = `arn:aws:states:${region}:${account}:stateMachine:slipway-deployment`;
export const removalMachineArn = `arn:aws:states:${region}:${account}:stateMachine:slipway-removal`;
/** No app and no client knows the value: it is new with every start, and the gateway removes the header. */
export const testHeader = { name: "x-slipway-probe", value: randomBytes(16).toString("hex") };
