import * as z from "zod";
import type { TableCall } from "../../api/faults/table-gate.ts";

const transaction = z.object({
  TransactItems: z.array(
    z.object({
      Update: z
        .object({
          Key: z.object({ sk: z.object({ S: z.string() }) }),
          UpdateExpression: z.string(),
          ExpressionAttributeValues: z.record(z.string(), z.object({ S: z.string().optional() })).default({}),
        })
        .optional(),
    }),
  ),
});

/** The change of a build in a call: its new status, "canceled", or "token" for the upload's token; undefined for other calls. */
export function changeOf(call: TableCall): string | undefined {
  if (call.operation !== "TransactWriteItems") return undefined;
  for (const { Update } of transaction.parse(JSON.parse(call.body)).TransactItems) {
    if (!Update?.Key.sk.S.startsWith("BLD#")) continue;
    const set = Update.UpdateExpression.split(" REMOVE ")[0] ?? "";
    if (set.includes("#canceledAt =")) return "canceled";
    if (set.includes("#uploadToken =")) return "token";
    const placeholder = /#status = (:v\d+)/.exec(set)?.[1];
    if (placeholder) return Update.ExpressionAttributeValues[placeholder]?.S;
  }
  return undefined;
}

/** A gate: one side waits until the other side opens it. */
export function openGate(): { opened: Promise<void>; isOpen(): boolean; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isOpen = false;
  return {
    opened: promise,
    isOpen: () => isOpen,
    open() {
      isOpen = true;
      resolve();
    },
  };
}
