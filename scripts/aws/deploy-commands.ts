/** The stack name in the arguments of `cdk deploy` (`-c stackName=…`). */
export function stackNameOf(args: readonly string[]): string {
  const given = args
    .map((arg) => /^(?:-c=?|--context=)?stackName=(.+)$/.exec(arg)?.[1])
    .findLast((name) => name !== undefined);
  return given ?? "Slipway";
}

/** Whether a stack with this status was ever deployed; a failed first deployment does not count. */
export const wasDeployed = (status: string | undefined): boolean =>
  status !== undefined && !/^(ROLLBACK_|CREATE_FAILED|REVIEW_)/.test(status);

/**
 * The cdk commands that deploy a stack with this CloudFormation status. A first deployment has two parts, because
 * deletion protection would make its rollback fail: the first part creates everything without deletion protection, and
 * the second part turns it on.
 */
export function deployCommands(args: readonly string[], status: string | undefined): string[][] {
  const deploy = ["deploy", ...args];
  if (wasDeployed(status) || args.some((arg) => /^(?:-c=?|--context=)?removal=/.test(arg))) return [deploy];
  return [
    [...deploy, "-c", "removal=first-deploy"],
    [...deploy, "--require-approval", "never"],
  ];
}
