/** An action of the audit trail in the console's words: `create-build` → "Create build", `delete-credential` → "Delete key". */
export function actionText(action: string): string {
  const words = action.replaceAll("-", " ").replace("environment", "variable").replace("credential", "key");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

interface Actor {
  kind: string;
  userId?: string | undefined;
  tokenId?: string | undefined;
  access?: string | undefined;
  projectId?: string | undefined;
}

/** Who made a change; `members` has the known names by user id. */
export function actorText(actor: Actor, members: ReadonlyMap<string, string>): string {
  switch (actor.kind) {
    case "user": {
      const name = members.get(actor.userId ?? "") ?? actor.userId ?? "a user";
      return actor.tokenId === undefined ? name : `${name}, with a token`;
    }
    case "key":
      return `Key ${actor.access?.slice(0, 16)}…`;
    case "app":
      return `App of ${actor.projectId}`;
    default:
      return "Operator";
  }
}
