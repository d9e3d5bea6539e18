import { command, serviceOptions } from "../command.ts";
import { serveTools } from "../mcp/serve.ts";

const { json: _, ...options } = serviceOptions;

/** `slipway mcp`: the service's tools and two of this machine for a language model's program, over standard input and output. */
export const mcp = command({
  details:
    "The program that starts it speaks the Model Context Protocol over its standard input and output. The tools are those of\nthe service, and two that it cannot have: deploy and analyze a folder of this machine (docs/mcp.md).",
  options,
  run: serveTools,
});
