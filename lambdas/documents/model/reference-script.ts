/** The script's text in a Lambda bundle, where scripts/bundle replaces this name; undefined elsewhere. */
declare const REFERENCE_SCRIPT: string | undefined;

/** The script of the reference page, which calls the service through the client. */
export async function referenceScript(): Promise<string> {
  return typeof REFERENCE_SCRIPT === "string"
    ? REFERENCE_SCRIPT
    : (await import("../../../reference/bundle.ts")).bundleReference();
}
