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
  images: "local/slipway-apps",
  appLog: "/slipway/apps",
  buildLog: "/slipway/builds",
} as const;

export const roleArn = (role: string) => `arn:aws:iam::${account}:role/slipway-${role}`;
export const stateMachineArn = `arn:aws:states:${region}:${account}:stateMachine:slipway-deployment`;
export const testHeader = { name: "x-slipway-probe", value: "new-version" };
