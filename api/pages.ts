/** A page that is served without a credential and is not a JSON answer of the contract. */
export interface Page {
  /** File name, function name and operation, as for a route. */
  id: string;
  method: "GET";
  path: string;
  /** The folder of its handler below lambdas/. */
  resource: string;
  summary: string;
}

/** The documents of the interface (docs/api.md, Documents). */
export const pages = [
  {
    id: "get-openapi",
    method: "GET",
    path: "/openapi.json",
    resource: "documents",
    summary: "The interface as an OpenAPI 3.1 document.",
  },
  {
    id: "get-docs",
    method: "GET",
    path: "/docs",
    resource: "documents",
    summary: "The interface as a page to read and try.",
  },
  {
    id: "get-llms",
    method: "GET",
    path: "/llms.txt",
    resource: "documents",
    summary: "The interface in short, for language models.",
  },
] as const satisfies readonly Page[];
