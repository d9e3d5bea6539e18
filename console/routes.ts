import type { ComponentType } from "preact";
import { lazy } from "./lazy.tsx";

interface PageRoute {
  /** As in preact-iso: `:name` stands for one segment. */
  path: string;
  component: ComponentType;
}

/** Every page with its address; each page is a file of its own, whose code is loaded when it is first shown. */
export const pageRoutes: readonly PageRoute[] = [
  { path: "/console", component: lazy(() => import("./pages/home.tsx").then((page) => page.HomePage)) },
  { path: "/console/sign-in", component: lazy(() => import("./pages/sign-in.tsx").then((page) => page.SignInPage)) },
  { path: "/console/account", component: lazy(() => import("./pages/account.tsx").then((page) => page.AccountPage)) },
  {
    path: "/console/orgs/:orgId",
    component: lazy(() => import("./pages/projects.tsx").then((page) => page.ProjectsPage)),
  },
];

/** The page for an address that is none. */
export const MissingPage = lazy(() => import("./pages/missing.tsx").then((page) => page.MissingPage));
