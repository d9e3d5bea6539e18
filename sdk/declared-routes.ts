import { modules } from "../api/index.ts";
import type { Route } from "../api/route.ts";

type Modules = typeof modules;
type Declared = { [M in keyof Modules]: Modules[M][keyof Modules[M]] }[keyof Modules];

/** Every route of the contract with its own id, path and schemas; the client's types are derived from it. */
export type AnyRoute = Extract<Declared, Route>;

function isRoute(value: unknown): value is AnyRoute {
  return typeof value === "object" && value !== null && "definition" in value && "method" in value;
}

/** The routes that the client has a method for: all of `api/index.ts`, here without losing their types. */
export const declaredRoutes: readonly AnyRoute[] = Object.values(modules).flatMap((module) =>
  Object.values(module).filter(isRoute),
);
