import * as builds from "./builds.ts";
import * as credentials from "./credentials.ts";
import * as databases from "./databases.ts";
import * as environments from "./environments.ts";
import * as events from "./events.ts";
import * as me from "./me.ts";
import * as members from "./members.ts";
import * as organizations from "./organizations.ts";
import * as projects from "./projects.ts";
import type { Route } from "./route.ts";
import * as sessions from "./sessions.ts";
import * as signIn from "./sign-in.ts";
import * as storage from "./storage.ts";
import * as tables from "./tables.ts";

/** A module's routes by the folder under lambdas/ that holds their handlers; typed, for the client. */
export const modules = {
  me,
  organizations,
  members,
  projects,
  builds,
  credentials,
  environments,
  storage,
  databases,
  tables,
  sessions,
  events,
  "sign-in": signIn,
};

type Module = (typeof modules)[keyof typeof modules];
type RoutesOf<M> = M extends object ? Extract<M[keyof M], Route> : never;
/** Every route with its own type. */
export type AnyRoute = RoutesOf<Module>;
/** The id of every route, so that what has to name each of them does not compile when one is missing. */
export type RouteId = AnyRoute["id"];

function isRoute(value: unknown): value is Route<RouteId> {
  return typeof value === "object" && value !== null && "definition" in value && "method" in value;
}

/** The whole interface, in declaration order: each route with the folder of its handler, `lambdas/<resource>/<id>.ts`. */
export const routes: readonly (Route<RouteId> & { resource: string })[] = Object.entries(modules).flatMap(
  ([resource, module]) =>
    Object.values(module)
      .filter(isRoute)
      .map((route) => ({ ...route, resource })),
);
