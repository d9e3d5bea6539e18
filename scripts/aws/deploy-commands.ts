/** The stack that the arguments of `cdk deploy` name with `-c stackName=…`. */
export function stackNameOf(args: readonly string[]): string {
  const given = args
    .map((arg) => /^(?:-c=?|--context=)?stackName=(.+)$/.exec(arg)?.[1])
    .findLast((name) => name !== undefined);
  return given ?? "Slipway";
}

/** Whether a stack in this state was ever deployed: the remains of a first deployment that failed are not. */
const wasDeployed = (status: string | undefined): boolean =>
  status !== undefined && !/^(ROLLBACK_|CREATE_FAILED|REVIEW_)/.test(status);

/**
 * The cdk commands that deploy a stack in a state of CloudFormation's. A first deployment locks nothing until everything exists, because a resource that
 * refuses to be deleted would refuse its rollback too; a second one then sets the locks.
 */
export function deployCommands(args: readonly string[], status: string | undefined): string[][] {
  const deploy = ["deploy", ...args];
  if (wasDeployed(status) || args.some((arg) => /^(?:-c=?|--context=)?removal=/.test(arg))) return [deploy];
  return [
    [...deploy, "-c", "removal=first-deploy"],
    [...deploy, "--require-approval", "never"],
  ];
}
