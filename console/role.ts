import { useOrganizations } from "./components/shell.tsx";
import { useOrgId } from "./paths.ts";

/** The user's role in the organization of the page; undefined until it is known. */
export function useRole(): string | undefined {
  const orgId = useOrgId();
  return useOrganizations().data?.organizations.find(({ id }) => id === orgId)?.role ?? undefined;
}

/** Whether the user may make changes that require the role admin. True until the role is known, because the service checks it. */
export function useIsAdmin(): boolean {
  return useRole() !== "member";
}
