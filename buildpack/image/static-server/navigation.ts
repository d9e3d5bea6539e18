const fileEnding =
  /\.([cm]?[jt]sx?|css|map|json5?|html?|xml|txt|md|csv|ya?ml|png|jpe?g|gif|svgz?|webp|avif|ico|bmp|woff2?|ttf|otf|eot|mp[34]|m4[av]|webm|og[gv]|wav|pdf|zip|gz|br|tar|wasm|webmanifest|rss|atom|php|aspx?|jsp|cgi|env|bak|sql)$/i;

/** True for a path of a file that a page loads: a request for it is not a navigation. `/users/john.doe` is a navigation. */
export const loadsAsFile = (path: string): boolean => fileEnding.test(path);

/**
 * True if an Accept header requests a page: it contains HTML, or only `*` + `/*`. A program that prefers JSON and also
 * accepts other types does not get the home page.
 */
export function acceptsPage(accept: string | undefined): boolean {
  const wanted = (accept ?? "*/*")
    .toLowerCase()
    .split(",")
    .filter((part) => !/;\s*q=0(\.0*)?\s*$/.test(part))
    .map((part) => part.split(";")[0]?.trim());
  if (wanted.some((type) => type === "text/html" || type === "application/xhtml+xml" || type === "text/*")) return true;
  return wanted.length > 0 && wanted.every((type) => type === "*/*");
}
