/** What web pages of any origin may send to the presigned addresses of a bucket: its rule for cross-origin requests (CORS). */
export interface BrowserTransfers {
  methods: readonly ("GET" | "HEAD" | "PUT")[];
  /** Request headers in lower case. */
  headers: readonly string[];
  /** The response headers that a page may read. */
  exposedHeaders: readonly string[];
  /** How long a browser may keep the answer of a preflight request. */
  maxAgeSeconds: number;
}

const common = { headers: ["content-type"], exposedHeaders: ["ETag"], maxAgeSeconds: 3600 } as const;

/** Source archives are uploaded by browsers, and never read by them. */
export const archiveTransfers: BrowserTransfers = { methods: ["PUT"], ...common };
export const fileTransfers: BrowserTransfers = { methods: ["GET", "HEAD", "PUT"], ...common };
