import { ConnectionError, ServiceError, SlipwayError } from "../../../sdk/errors.ts";
import { fenced } from "../../../sdk/fence.ts";
import { errorFields, log } from "../../http/log.ts";
import type { Caller } from "./caller.ts";
import type { Tool, ToolAnswer } from "./tool.ts";

const contentOf = (text: string) => [{ type: "text" as const, text }];

function textOf({ note, data }: ToolAnswer): string {
  return [note, ...(data === undefined ? [] : [fenced(data)])].filter(Boolean).join("\n");
}

/** A refusal of the API as a tool's error: status, code and what was wrong. Its texts can contain users' words. */
function refusal(error: SlipwayError): string {
  const { status, code, message, issues, body } = error;
  const running = typeof body === "object" && body !== null && "build" in body ? { build: body.build } : {};
  const retry = error.retryAfterSeconds === undefined ? "" : ` Retry after ${error.retryAfterSeconds} s.`;
  const reason = fenced({ message, ...(issues.length > 0 && { issues }), ...running }, 4_000);
  const verb = error instanceof ConnectionError || error instanceof ServiceError ? "Failed" : "Refused";
  return `${verb}: ${code}${status === undefined ? "" : ` (${status})`}.${retry}\n${reason}`;
}

/** Runs a tool. A refusal, or a fault of the service, is a tool's error, which a model can read and act on. */
export async function answerOf(tool: Tool, caller: Caller, input: object) {
  try {
    return { content: contentOf(textOf(await tool.run(caller, { ...input }))) };
  } catch (error) {
    if (error instanceof SlipwayError) return { isError: true, content: contentOf(refusal(error)) };
    log("error", "A tool failed.", { tool: tool.name, ...errorFields(error) });
    return { isError: true, content: contentOf("Failed: internal. Something went wrong on our side.") };
  }
}
