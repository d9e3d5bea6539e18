import { SlipwayError } from "../sdk/browser.ts";

/** An error as the console shows it: what happened, what to do, and where to look. */
export interface Explanation {
  text: string;
  /** What the user can do about it. */
  advice?: string;
  people?: { name: string; email: string }[];
  link?: { href: string; text: string };
  /** Whether the same request can succeed later. */
  canRetry: boolean;
  requestId?: string;
}

function fieldsOf(body: unknown): Record<string, unknown> {
  return typeof body === "object" && body !== null ? { ...body } : {};
}

function peopleIn(value: unknown): { name: string; email: string }[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((one) => {
    const { name, email } = fieldsOf(one);
    return typeof name === "string" && typeof email === "string" ? [{ name, email }] : [];
  });
}

const seconds = (count: number | undefined) =>
  count === undefined ? "in a moment" : `in ${count} second${count === 1 ? "" : "s"}`;

/** Explains an error in the console's own words, or else with the service's message. `project` is the path of the project's pages. */
export function explain(error: unknown, project?: string): Explanation {
  if (!(error instanceof SlipwayError)) {
    const text = error instanceof Error ? error.message : String(error);
    return { text: text || "Something went wrong.", canRetry: true };
  }
  const { status, code, message, requestId, retryAfterSeconds } = error;
  const fields = fieldsOf(error.body);
  const shared = requestId === undefined ? {} : { requestId };
  if (status === undefined) {
    const offline = !navigator.onLine;
    return {
      text: offline ? "Your computer has no network connection." : "The service could not be reached.",
      advice: "Nothing that you entered is lost. Check the connection and try again.",
      canRetry: true,
    };
  }
  switch (code) {
    case "unauthorized":
      return { text: "You are not signed in.", advice: "Sign in, and try again.", canRetry: true, ...shared };
    case "not_a_manager":
      return {
        text: "Only the managers of this project can do this.",
        advice: "Ask one of them:",
        people: peopleIn(fields.managers),
        canRetry: false,
        ...shared,
      };
    case "forbidden":
      return {
        text: `Your role does not allow this: it needs the role ${String(fields.requiredRole ?? "admin")}.`,
        advice: "Ask an owner of the organization.",
        canRetry: false,
        ...shared,
      };
    case "build_in_progress": {
      const { id } = fieldsOf(fields.build);
      return {
        text: "Another build of this project is running.",
        advice: "Wait until it has ended, or cancel it.",
        ...(typeof id === "string" &&
          project && { link: { href: `${project}/builds/${id}`, text: "Show that build" } }),
        canRetry: true,
        ...shared,
      };
    }
    case "too_many_requests":
      return {
        text: "Too many requests.",
        advice: `Try again ${seconds(retryAfterSeconds)}.`,
        canRetry: true,
        ...shared,
      };
    case "database_resuming":
      return {
        text: "The database was paused and is starting.",
        advice: `Try again ${seconds(retryAfterSeconds)}.`,
        canRetry: true,
        ...shared,
      };
    case "not_found":
      return { text: "This does not exist, or you have no access to it.", canRetry: false, ...shared };
    default:
      break;
  }
  if (status >= 500) {
    const text = status === 503 ? "The service is busy for a moment." : "Something went wrong in the service.";
    return { text, advice: `Try again ${seconds(retryAfterSeconds)}.`, canRetry: true, ...shared };
  }
  return { text: message, canRetry: false, ...shared };
}

/** The rules that single fields broke, by the field's name; the rest of the error is about the whole form. */
export function fieldErrors(error: unknown): Record<string, string> {
  if (!(error instanceof SlipwayError) || error.status !== 400) return {};
  return Object.fromEntries(error.issues.map(({ path, message }) => [path, `It ${message}.`]));
}
