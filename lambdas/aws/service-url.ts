/** The address of this service for its clients. Only the local service is used without TLS. */
export function serviceUrl(host: string): string {
  return `${/^(127\.0\.0\.1|localhost)(:|$)/.test(host) ? "http" : "https"}://${host}`;
}
