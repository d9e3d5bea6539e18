import { useLocation } from "preact-iso/router";

/** The addresses of the console's pages. */
export const paths = {
  home: "/console",
  account: "/console/account",
  connect: "/console/connect",
  organization: (orgId: string) => `/console/orgs/${orgId}`,
  project: (orgId: string, projectId: string) => `/console/orgs/${orgId}/projects/${projectId}`,
  build: (orgId: string, projectId: string, buildId: string) =>
    `/console/orgs/${orgId}/projects/${projectId}/builds/${buildId}`,
};

/** The ids in the page's address; empty where there is none. */
function useAddress(): { orgId: string; projectId: string } {
  const [, orgId = "", projectId = ""] =
    /^\/console\/orgs\/([^/]+)(?:\/projects\/([^/]+))?/.exec(useLocation().path) ?? [];
  return { orgId, projectId };
}

/** The organization of the page. */
export function useOrgId(): string {
  return useAddress().orgId;
}

/** The project of the page, as the client's calls take it, and the path that its pages begin with. */
export function useProject(): { ids: { orgId: string; projectId: string }; path: string } {
  const ids = useAddress();
  return { ids, path: paths.project(ids.orgId, ids.projectId) };
}

/** Goes to another page of the console; with `replace`, the back button skips this one. */
export function useGo(): (path: string, replace?: boolean) => void {
  return useLocation().route;
}
