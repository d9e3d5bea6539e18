import type * as z from "zod";
import type { Capability } from "../../api/capabilities.ts";
import type { PathParams, Route } from "../../api/route.ts";
import type { Access, ReadAccess } from "./access.ts";
import type { PresentedCredential } from "./presented-credential.ts";
import type { Issue, Problem } from "./problem.ts";

type Parsed<T> = T extends z.ZodType ? z.output<T> : undefined;
type Definition<R extends Route> = R["definition"];
/** The capabilities that a route declares. */
export type Uses<R extends Route> = Definition<R>["uses"][number] & Capability;
/** The body of a route's answer. */
export type Reply<R extends Route> = z.input<Definition<R>["reply"]>;
/** Only a route that declares table:write can commit. */
type AccessOf<R extends Route> = "table:write" extends Uses<R> ? Access : ReadAccess;

/** A request as its handler sees it: what the route declares, parsed and typed. */
export interface Call<R extends Route> {
  params: PathParams<R["path"]>;
  query: Parsed<Definition<R>["query"]>;
  body: Parsed<Definition<R>["body"]>;
  /** The body as it arrived: JSON.parse rounds numbers and drops repeated keys. */
  text: string | undefined;
  access: Definition<R>["credential"] extends "none" ? undefined : AccessOf<R>;
  /** The credential as presented; `access` proves it. */
  credential: Definition<R>["credential"] extends "none" ? undefined : PresentedCredential;
  /** The request's headers, names in lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  /** `name=value` each; empty unless the route declares `cookie`. */
  cookies: readonly string[];
  now: Date;
  /** The answer to an input that breaks a rule: the broken rules that `parse` found, and `issues`; `undefined` if there is none. */
  refusal(issues: Issue[]): Problem | undefined;
  /** Adds a header to the answer. */
  header(name: string, value: string): void;
  /** Adds a Set-Cookie header to the answer of a route that declares `cookie`. */
  setCookie(cookie: string): void;
}
