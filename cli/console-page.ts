/** An address of the console; the console of a local service is on localhost (docs/api.md, Sign-in). */
export function consolePage(baseUrl: string, path = ""): URL {
  const page = new URL(`${baseUrl.replace(/\/+$/, "")}/console${path}`);
  if (page.hostname === "127.0.0.1") page.hostname = "localhost";
  return page;
}
