import type { ComponentType } from "preact";
import { type LazyComponent, lazy } from "./lazy.tsx";
import { HomePage } from "./pages/home.tsx";
import { ProjectsPage } from "./pages/projects.tsx";
import { SignInPage } from "./pages/sign-in.tsx";

interface PageRoute {
  /** As in preact-iso: `:name` stands for one segment. */
  path: string;
  component: ComponentType | LazyComponent;
}

// Each group is bundled into its own file and has pages that users open one after another.
const builds = () => import("./page-groups/builds.ts");
const configuration = () => import("./page-groups/configuration.ts");
const storage = () => import("./page-groups/storage.ts");
const people = () => import("./page-groups/people.ts");

const organization = "/console/orgs/:orgId";
const project = `${organization}/projects/:projectId`;
const database = `${organization}/databases/:dbId`;

const TablePage = lazy(storage, (pages) => pages.TablePage);

/** Every page with its address. The first pages are part of the main bundle, all others are loaded in groups. */
export const pageRoutes: readonly PageRoute[] = [
  { path: "/console", component: HomePage },
  { path: organization, component: ProjectsPage },
  { path: "/console/sign-in", component: SignInPage },
  { path: "/console/account", component: lazy(people, (pages) => pages.AccountPage) },
  { path: "/console/connect", component: lazy(people, (pages) => pages.ConnectPage) },
  { path: `${organization}/members`, component: lazy(people, (pages) => pages.OrganizationPage) },
  { path: `${organization}/members/tokens`, component: lazy(people, (pages) => pages.OrganizationTokensPage) },
  { path: `${organization}/members/events`, component: lazy(people, (pages) => pages.OrganizationEventsPage) },
  { path: project, component: lazy(builds, (pages) => pages.OverviewPage) },
  { path: `${project}/builds`, component: lazy(builds, (pages) => pages.BuildsPage) },
  { path: `${project}/builds/:buildId`, component: lazy(builds, (pages) => pages.BuildPage) },
  { path: `${project}/app`, component: lazy(builds, (pages) => pages.AppPage) },
  { path: `${project}/variables`, component: lazy(configuration, (pages) => pages.VariablesPage) },
  { path: `${project}/keys`, component: lazy(configuration, (pages) => pages.KeysPage) },
  { path: `${project}/domains`, component: lazy(configuration, (pages) => pages.DomainsPage) },
  { path: `${project}/settings`, component: lazy(configuration, (pages) => pages.SettingsPage) },
  { path: `${organization}/databases`, component: lazy(storage, (pages) => pages.DatabasesPage) },
  { path: database, component: lazy(storage, (pages) => pages.TablesPage) },
  { path: `${database}/tables/:tableName`, component: TablePage },
  { path: `${database}/tables/:tableName/columns`, component: TablePage },
  { path: `${organization}/storages`, component: lazy(storage, (pages) => pages.StoragesPage) },
  { path: `${organization}/storages/:storageId`, component: lazy(storage, (pages) => pages.FilesPage) },
];

/** Loads the code of an address's page; does not wait until the user is known. */
export function preloadPage(address: string): void {
  for (const { path, component } of pageRoutes) {
    const pattern = new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}/?$`);
    if ("preload" in component && pattern.test(address)) component.preload();
  }
}
