/** The module's text in a Lambda bundle, where scripts/bundle replaces this name; undefined elsewhere. */
declare const STATIC_SERVER: string | undefined;

/** The static server as one self-contained module, which is written into the image and run there (ADR 0009). */
export async function staticServerText(): Promise<string> {
  return typeof STATIC_SERVER === "string" ? STATIC_SERVER : (await import("./bundle.ts")).bundleStaticServer();
}
