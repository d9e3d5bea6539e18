/** The part of a Babel path that an ignorer reads. */
interface Path {
  node: { type: string; callee?: unknown; name?: string };
}

/** Only `Error`, whose message is only logged. The messages of `Problem`, `Refusal` and the like are for the user. */
const isInternalError = ({ node }: Path) =>
  node.type === "NewExpression" && Reflect.get(Object(node.callee), "name") === "Error";
const isLogCall = ({ node }: Path) =>
  node.type === "CallExpression" && Reflect.get(Object(node.callee), "name") === "log";

/** Texts that are only logged: no test checks their wording, because no caller depends on it. */
export const logTexts = {
  name: "log-texts",
  shouldIgnore: (path: Path) => (isInternalError(path) || isLogCall(path) ? "Only the log holds this text" : undefined),
};
