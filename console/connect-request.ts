import type { TokenAccess } from "../api/route.ts";

/** What a tool asks for in the address of the connect page (docs/api.md, Sign-in). */
export interface ConnectRequest {
  tool: string;
  access: TokenAccess;
  challenge: string;
  /** The organizations that the tool names; empty for all. */
  organizationIds: string[];
  /** Where the tool waits for the code, on this computer; undefined if the person types the code. */
  redirect: URL | undefined;
  state: string | null;
}

/** The levels of access, lowest first. */
export const accesses = ["read", "deploy", "all"] as const satisfies readonly TokenAccess[];

/** Reads the redirect. It must be on this computer: the code must not reach another host. */
function loopbackAddress(text: string | null): URL | undefined {
  if (text === null || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  const isLoopback = ["127.0.0.1", "localhost", "[::1]"].includes(url.hostname);
  const isPlain = url.protocol === "http:" && url.username === "" && url.password === "" && url.hash === "";
  return isLoopback && isPlain && url.port !== "" ? url : undefined;
}

/** Reads the query of the connect page's address; undefined if no tool can have written it. */
export function readConnectRequest(search: string): ConnectRequest | undefined {
  const query = new URLSearchParams(search);
  const tool = query.get("tool")?.trim() ?? "";
  const challenge = query.get("challenge") ?? "";
  const access = accesses.find((one) => one === (query.get("access") ?? "all"));
  if (tool === "" || [...tool].length > 64 || access === undefined || !/^[\w-]{43}$/.test(challenge)) return undefined;
  return {
    tool,
    access,
    challenge,
    organizationIds: query.getAll("organization"),
    redirect: loopbackAddress(query.get("redirect")),
    state: query.get("state"),
  };
}

/** The address to which the browser goes, to give the answer to the waiting tool. */
export function answerAddress(
  redirect: URL,
  state: string | null,
  answer: { code: string } | { error: string },
): string {
  const url = new URL(redirect);
  for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value);
  if (state !== null) url.searchParams.set("state", state);
  return url.href;
}
