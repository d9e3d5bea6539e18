/** The service and the credential to call it with. */
export type ClientConfiguration =
  | { baseUrl: string; accessKey: string; secretKey: string }
  | { baseUrl: string; token: string };

const usage = "createClient needs { baseUrl, accessKey, secretKey }, { baseUrl, token }, or nothing in a deployed app.";

/** The address without a slash at its end; throws a TypeError if it is no address of a service. */
export function readBaseUrl(baseUrl: string | undefined): string {
  if (!baseUrl) throw new TypeError(usage);
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new TypeError("baseUrl must be an http or https address without user name, query or fragment.");
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

const keyPart = /^[\x21-\x39\x3b-\x7e]+$/;

/** The Authorization header; throws a TypeError, which repeats no secret, if a part cannot be one. */
export function readAuthorization(configuration: { accessKey: string; secretKey: string } | { token: string }): string {
  const parts = "token" in configuration ? [configuration.token] : [configuration.accessKey, configuration.secretKey];
  if (parts.some((part) => !part)) throw new TypeError(usage);
  if (!parts.every((part) => keyPart.test(part))) {
    throw new TypeError("A key or token contains an invalid character: a space, a colon or a line break.");
  }
  return `Bearer ${parts.join(":")}`;
}
