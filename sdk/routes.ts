import * as builds from "../api/builds.ts";
import * as credentials from "../api/credentials.ts";
import * as environments from "../api/environments.ts";
import * as organizations from "../api/organizations.ts";
import type { Route } from "../api/route.ts";
import * as sessions from "../api/sessions.ts";
import * as storage from "../api/storage.ts";
import * as tables from "../api/tables.ts";

const modules = { organizations, builds, credentials, environments, tables, storage, sessions };

type Modules = typeof modules;
type Declared = { [M in keyof Modules]: Modules[M][keyof Modules[M]] }[keyof Modules];

/** Every route of the contract with its own id, path and schemas; what the client's types are made of. */
export type AnyRoute = Extract<Declared, Route>;

function isRoute(value: unknown): value is AnyRoute {
  return typeof value === "object" && value !== null && "definition" in value && "method" in value;
}

/** The routes the client has a method for: all of `api/index.ts`, which a test compares, here without losing their types. */
export const clientRoutes: readonly AnyRoute[] = Object.values(modules).flatMap((module) =>
  Object.values(module).filter(isRoute),
);
