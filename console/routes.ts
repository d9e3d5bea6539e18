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
    path: "/console/orgs/:orgId/projects/:projectId",
    component: lazy(() => import("./pages/overview.tsx").then((page) => page.OverviewPage)),
  },
  {
    path: "/console/orgs/:orgId/projects/:projectId/builds",
    component: lazy(() => import("./pages/builds.tsx").then((page) => page.BuildsPage)),
  },
  {
    path: "/console/orgs/:orgId/projects/:projectId/builds/:buildId",
    component: lazy(() => import("./pages/build.tsx").then((page) => page.BuildPage)),
  },
  {
    path: "/console/orgs/:orgId/projects/:projectId/app",
    component: lazy(() => import("./pages/app.tsx").then((page) => page.AppPage)),
  },
  {
    path: "/console/orgs/:orgId",
    component: lazy(() => import("./pages/projects.tsx").then((page) => page.ProjectsPage)),
  },
  {
    path: "/console/orgs/:orgId/projects/:projectId/variables",
    component: lazy(() => import("./pages/variables.tsx").then((page) => page.VariablesPage)),
  },
  {
    path: "/console/orgs/:orgId/projects/:projectId/keys",
    component: lazy(() => import("./pages/keys.tsx").then((page) => page.KeysPage)),
  },
  {
    path: "/console/orgs/:orgId/projects/:projectId/domains",
    component: lazy(() => import("./pages/domains.tsx").then((page) => page.DomainsPage)),
  },
  {
    path: "/console/orgs/:orgId/projects/:projectId/settings",
    component: lazy(() => import("./pages/settings.tsx").then((page) => page.SettingsPage)),
  },
  {
    path: "/console/orgs/:orgId/members",
    component: lazy(() => import("./pages/organization.tsx").then((page) => page.OrganizationPage)),
  },
  {
    path: "/console/orgs/:orgId/members/tokens",
    component: lazy(() => import("./pages/organization-tokens.tsx").then((page) => page.OrganizationTokensPage)),
  },
  {
    path: "/console/orgs/:orgId/members/events",
    component: lazy(() => import("./pages/organization-events.tsx").then((page) => page.OrganizationEventsPage)),
  },
  { path: "/console/connect", component: lazy(() => import("./pages/connect.tsx").then((page) => page.ConnectPage)) },
  {
    path: "/console/orgs/:orgId/databases",
    component: lazy(() => import("./pages/databases.tsx").then((page) => page.DatabasesPage)),
  },
  {
    path: "/console/orgs/:orgId/databases/:dbId",
    component: lazy(() => import("./pages/tables.tsx").then((page) => page.TablesPage)),
  },
  {
    path: "/console/orgs/:orgId/databases/:dbId/tables/:tableName",
    component: lazy(() => import("./pages/table.tsx").then((page) => page.TablePage)),
  },
  {
    path: "/console/orgs/:orgId/databases/:dbId/tables/:tableName/columns",
    component: lazy(() => import("./pages/table.tsx").then((page) => page.TablePage)),
  },
  {
    path: "/console/orgs/:orgId/storages",
    component: lazy(() => import("./pages/storages.tsx").then((page) => page.StoragesPage)),
  },
  {
    path: "/console/orgs/:orgId/storages/:storageId",
    component: lazy(() => import("./pages/files.tsx").then((page) => page.FilesPage)),
  },
];

/** The page for an address that is none. */
export const MissingPage = lazy(() => import("./pages/missing.tsx").then((page) => page.MissingPage));
