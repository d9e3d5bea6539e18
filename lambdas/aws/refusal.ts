import * as z from "zod";

const refusal = z.looseObject({ __type: z.string() });

/** What a service of the AWS JSON protocols says when it refuses: the exception's name and fields; `undefined` for anything else. */
export function refusalOf(body: string): { name: string; fields: Record<string, unknown> } | undefined {
  try {
    const fields = refusal.parse(JSON.parse(body));
    return { name: fields.__type.replace(/^.*#/, ""), fields };
  } catch {
    return undefined;
  }
}
