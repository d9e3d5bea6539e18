import type * as z from "zod";
import type { PathParams, Route } from "../api/route.ts";
import type { AnyRoute } from "./declared-routes.ts";
import type { CallOptions } from "./send.ts";

type CamelCase<S extends string> = S extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S;

type Flat<T> = { [K in keyof T]: T[K] };
type Params<R extends Route> = { [Name in keyof PathParams<R["path"]>]: string | number };
/** A query may be given as text, as in the URL, or as its parsed value: `limit: 20`. */
type Query<R extends Route> = R["definition"] extends { query: infer Q extends z.ZodObject }
  ? { [K in keyof z.input<Q>]: z.input<Q>[K] | (K extends keyof z.output<Q> ? z.output<Q>[K] : never) }
  : unknown;
type Body<R extends Route> = R["definition"] extends { body: infer B extends z.ZodType } ? z.input<B> : unknown;

/** Path parameters, query and body of a route, side by side in one object. */
type InputOf<R extends Route> = Flat<Params<R> & Query<R> & Body<R>>;
export type ReplyOf<R extends Route> = z.output<R["definition"]["reply"]>;

type Method<R extends Route> =
  Record<never, never> extends InputOf<R>
    ? (input?: InputOf<R>, options?: CallOptions) => Promise<ReplyOf<R>>
    : (input: InputOf<R>, options?: CallOptions) => Promise<ReplyOf<R>>;

/** One method per route of the contract, named after the route's id: `client.createBuild({ orgId, projectId, title })`. */
export type Client = { readonly [R in AnyRoute as CamelCase<R["id"]>]: Method<R> };

/** The names of the client's methods that list something. */
export type ListName = Extract<keyof Client, `list${string}`>;
type ReplyOfMethod<Name extends keyof Client> = Awaited<ReturnType<Client[Name]>>;
/** What one page of a list holds, item by item. */
export type ItemOf<Name extends ListName> = {
  [Field in keyof ReplyOfMethod<Name>]: ReplyOfMethod<Name>[Field] extends readonly (infer Item)[] ? Item : never;
}[keyof ReplyOfMethod<Name>];
