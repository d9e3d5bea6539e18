/** The prefix of a stack's image repositories. ECR allows small letters only, and one hyphen at a time between others. */
export function imageRepositoryPrefix(stackName: string): string {
  return stackName.toLowerCase().replaceAll(/-+/g, "-").replace(/-$/, "");
}

/** The prefix of a stack's copies of public images. ECR allows such a prefix at most 30 characters. */
export function baseImagePrefix(stackName: string): string {
  return `${imageRepositoryPrefix(imageRepositoryPrefix(stackName).slice(0, 25))}-base`;
}
