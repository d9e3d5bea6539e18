import type { Capability } from "./capabilities.ts";
import type { Method } from "./route.ts";

/** Something beside the routes of the contract: a document, or another protocol. */
export interface Page {
  /** File name, function name and operation, as for a route. */
  id: string;
  methods: readonly Method[];
  /** One function answers all of them; `{proxy+}` at the end stands for one or more segments. */
  paths: readonly string[];
  /** The folder of its handler below lambdas/. */
  resource: string;
  summary: string;
  uses: readonly Capability[];
}

/** The documents of the interface (docs/api.md, Documents), MCP and the console. */
export const pages = [
  {
    id: "get-openapi",
    methods: ["GET"],
    paths: ["/openapi.json"],
    resource: "documents",
    summary: "The interface as an OpenAPI 3.1 document.",
    uses: [],
  },
  {
    id: "get-settings-schema",
    methods: ["GET"],
    paths: ["/slipway.schema.json"],
    resource: "documents",
    summary: "The JSON Schema of slipway.json, for editors.",
    uses: [],
  },
  {
    id: "get-docs",
    methods: ["GET"],
    paths: ["/docs"],
    resource: "documents",
    summary: "The interface as a page to read and try.",
    uses: [],
  },
  {
    id: "get-llms",
    methods: ["GET"],
    paths: ["/llms.txt"],
    resource: "documents",
    summary: "The interface in short, for language models.",
    uses: [],
  },
  {
    id: "serve-mcp",
    // The protocol answers 405 to the methods that this server does not offer.
    methods: ["POST", "GET", "DELETE"],
    paths: ["/mcp"],
    resource: "mcp",
    summary: "The service as tools for language models: Model Context Protocol.",
    uses: ["service:call"],
  },
  {
    id: "serve-console",
    methods: ["GET"],
    // API Gateway prefers a route's own path, such as GET /console/session.
    paths: ["/console", "/console/{proxy+}"],
    resource: "console",
    summary: "The web console.",
    uses: ["uploads:locate"],
  },
] as const satisfies readonly Page[];

/** Each method and path of the pages, with the page that answers it. */
export const pageRoutes: readonly (Page & { method: Method; path: string })[] = pages.flatMap((page) =>
  page.methods.flatMap((method) => page.paths.map((path) => ({ ...page, method, path }))),
);
