/** The prefix of a stack's image repositories. ECR allows small letters only, and one hyphen at a time between others. */
export function imageRepositoryPrefix(stackName: string): string {
  return stackName.toLowerCase().replaceAll(/-+/g, "-").replace(/-$/, "");
}
