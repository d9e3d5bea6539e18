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
    ...(body === undefined ? [] : [`-H "Content-Type: application/json"`, `-d ${quoted(JSON.stringify(body))}`]),
  ];
  return words.join(" \\\n  ");
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** The same call with the command line: the command for it, or else the raw call. */
export function cliSample(operation: Operation): string {
  const { query, body, cli } = exampleOf(operation.id);
  if (cli !== undefined) return `slipway ${cli}`;
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => `$${name}`);
  const search = query === undefined ? "" : `?${new URLSearchParams(query)}`;
  const data = body === undefined ? "" : ` --data ${quoted(JSON.stringify(body))}`;
  return `slipway api ${operation.method} "${path}${search}"${data}`;
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
