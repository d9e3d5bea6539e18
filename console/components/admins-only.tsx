import { useIsAdmin } from "../role.ts";

/** Tells a member why the page has no buttons. `what` is such as "add domains". */
export function AdminsOnly({ what }: { what: string }) {
  if (useIsAdmin()) return null;
  return <p class="note">Only admins and owners of the organization can {what}.</p>;
}
