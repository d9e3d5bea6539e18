import { exampleOf } from "../../../api/examples.ts";
import type { Operation } from "./operations.ts";

/** A call with curl; `$SLIPWAY_URL`, `$SLIPWAY_TOKEN` and the ids are variables of the shell. */
export function curlSample(operation: Operation): string {
  const { query, body } = exampleOf(operation.id);
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => `$${name}`);
  const search = query === undefined ? "" : `?${new URLSearchParams(query)}`;
  const words = [
    operation.method === "GET" ? "curl" : `curl -X ${operation.method}`,
    `"$SLIPWAY_URL${path}${search}"`,
    `-H "Authorization: Bearer $SLIPWAY_TOKEN"`,
    ...(body === undefined
      ? []
      : [`-H "Content-Type: application/json"`, `-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`]),
  ];
  return words.join(" \\\n  ");
}

function fields(operation: Operation): string[] {
  const { query = {}, body = {} } = exampleOf(operation.id);
  return [
    ...operation.params,
    ...Object.entries({ ...query, ...body }).map(([name, value]) => `${name}: ${JSON.stringify(value)}`),
  ];
}

/** The same call with the client. */
export function sdkSample(operation: Operation): string {
  const all = fields(operation);
  return `await slipway.${operation.sdkMethod}(${all.length === 0 ? "" : `{ ${all.join(", ")} }`});`;
}

/** The input of the page's form; the reader enters the ids. */
export function inputSample(operation: Operation): string {
  const { query = {}, body = {} } = exampleOf(operation.id);
  return JSON.stringify({ ...Object.fromEntries(operation.params.map((name) => [name, ""])), ...query, ...body });
}
