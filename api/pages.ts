import type { Capability } from "./capabilities.ts";
import type { Method } from "./route.ts";

/** Something beside the routes of the contract: a document, or another protocol. */
export interface Page {
  /** File name, function name and operation, as for a route. */
  id: string;
  methods: readonly Method[];
  path: string;
  /** The folder of its handler below lambdas/. */
  resource: string;
  summary: string;
  uses: readonly Capability[];
}

/** The documents of the interface (docs/api.md, Documents). */
export const pages = [
  {
    id: "get-openapi",
    methods: ["GET"],
    path: "/openapi.json",
    resource: "documents",
    summary: "The interface as an OpenAPI 3.1 document.",
    uses: [],
  },
  {
    id: "get-docs",
    methods: ["GET"],
    path: "/docs",
    resource: "documents",
    summary: "The interface as a page to read and try.",
    uses: [],
  },
  {
    id: "get-llms",
    methods: ["GET"],
    path: "/llms.txt",
    resource: "documents",
    summary: "The interface in short, for language models.",
    uses: [],
  },
  {
    id: "serve-mcp",
    // The protocol answers 405 to the methods that this server does not offer.
    methods: ["POST", "GET", "DELETE"],
    path: "/mcp",
    resource: "mcp",
    summary: "The service as tools for language models: Model Context Protocol.",
    uses: ["service:call"],
  },
] as const satisfies readonly Page[];
