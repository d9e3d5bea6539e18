import { foreignOrigin } from "../../http/problem.ts";
import type { ConsoleAddress } from "../../http/tools.ts";

const name = "slipway_session";

/** Only the routes of the session get the cookie, and no script can read it. Browsers accept `Secure` cookies only over HTTPS. */
function cookieWith(value: string, maxAgeSeconds: number, { origin }: ConsoleAddress): string {
  const secure = origin.startsWith("https:") ? "; Secure" : "";
  return `${name}=${value}; Path=/console/session; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`;
}

/** The Set-Cookie header that keeps a session until it expires. */
export function sessionCookie(secret: string, expiresAt: string, now: Date, console: ConsoleAddress): string {
  const seconds = Math.floor((Date.parse(expiresAt) - now.getTime()) / 1000);
  return cookieWith(secret, seconds, console);
}

/** The Set-Cookie header that deletes the session's cookie. */
export function noSessionCookie(console: ConsoleAddress): string {
  return cookieWith("", 0, console);
}

/** The session's secret among the cookies of a request. */
export function secretFrom(cookies: readonly string[]): string | undefined {
  const own = cookies.find((cookie) => cookie.startsWith(`${name}=`));
  return own?.slice(name.length + 1);
}

/**
 * Throws 403 for a request that a page of another site makes. Browsers say in `Origin` or `Sec-Fetch-Site` whose page it
 * is; other clients say nothing, and have no cookies of a browser.
 */
export function refuseForeignOrigin(headers: Readonly<Record<string, string | undefined>>): void {
  const { origin, host, "sec-fetch-site": site } = headers;
  const isOwn = origin === undefined || (URL.canParse(origin) && new URL(origin).host === host);
  if (isOwn && (site === undefined || site === "same-origin" || site === "none")) return;
  throw foreignOrigin();
}
