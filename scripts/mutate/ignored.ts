/** The part of a Babel path that an ignorer reads. */
interface Path {
  node: { type: string; callee?: unknown; name?: string };
}

/** `Error` alone: its message reaches the log only. `Problem`, `Refusal` and the like speak to the user. */
const isInternalError = ({ node }: Path) =>
  node.type === "NewExpression" && Reflect.get(Object(node.callee), "name") === "Error";
const isLogCall = ({ node }: Path) =>
  node.type === "CallExpression" && Reflect.get(Object(node.callee), "name") === "log";

/** Texts that only the log holds: no test states their wording, because no caller depends on it. */
export const logTexts = {
  name: "log-texts",
  shouldIgnore: (path: Path) => (isInternalError(path) || isLogCall(path) ? "Only the log holds this text" : undefined),
};
