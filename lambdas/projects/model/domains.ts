import { limits } from "../../../api/limits.ts";
import { Addresses, type AddressesRow, DomainName } from "../../builds/model/rows.ts";
import { notFound, Problem } from "../../http/problem.ts";
import { absent } from "../../table/entity.ts";

export interface Domain {
  domain: string;
  status: "pending" | "active";
  createdAt: string;
}

/** A project's domains, oldest first; domains without a recorded date have the project's date. */
export function domainsOf(row: AddressesRow | undefined, projectCreatedAt: string): Domain[] {
  return Object.entries(row?.domains ?? {})
    .map(([domain, status]) => ({ domain, status, createdAt: row?.domainDates?.[domain] ?? projectCreatedAt }))
    .sort((one, other) => (one.createdAt < other.createdAt ? -1 : one.createdAt > other.createdAt ? 1 : 0));
}

/** Writes the whole list of a project's domains, which is short, if it has not changed since it was read. */
function rewrite(projectId: string, row: AddressesRow | undefined, domains: readonly Domain[]) {
  const set = {
    domains: Object.fromEntries(domains.map(({ domain, status }) => [domain, status])),
    domainDates: Object.fromEntries(domains.map(({ domain, createdAt }) => [domain, createdAt])),
    revision: (row?.revision ?? 0) + 1,
  };
  return Addresses.update({ projectId }, { set }, { revision: row?.revision ?? absent });
}

export interface DomainsOfProject {
  projectId: string;
  /** When the project was made. */
  createdAt: string;
  row: AddressesRow | undefined;
}

/** The domain is another project's, or the project has it already (docs/api.md, Domains). */
export function domainTaken(domain: string): Problem {
  return new Problem("name_taken", `The domain ${domain} is in use. Remove it from the project that has it first.`);
}

/** Adds a domain; throws 409 if the project has it or has reached the limit. The write of `name` fails if another project has it. */
export function addedDomain({ projectId, createdAt, row }: DomainsOfProject, domain: string, now: Date) {
  const domains = domainsOf(row, createdAt);
  if (domains.some((one) => one.domain === domain)) throw domainTaken(domain);
  if (domains.length >= limits.domainsPerProjectMax) {
    throw new Problem("limit_reached", `A project has at most ${limits.domainsPerProjectMax} domains.`);
  }
  const added: Domain = { domain, status: "pending", createdAt: now.toISOString() };
  return {
    added,
    writes: {
      addresses: rewrite(projectId, row, [...domains, added]),
      name: DomainName.put({ domain }, { projectId }, { pk: absent }),
    },
  };
}

/** Activates a domain; throws 404 if the project does not have it. */
export function activatedDomain({ projectId, createdAt, row }: DomainsOfProject, domain: string) {
  const domains = domainsOf(row, createdAt);
  const one = domains.find((known) => known.domain === domain);
  if (!one) throw notFound();
  one.status = "active";
  return { addresses: rewrite(projectId, row, domains) };
}

/** Removes a domain; throws 404 if the project does not have it. */
export function removedDomain({ projectId, createdAt, row }: DomainsOfProject, domain: string) {
  const domains = domainsOf(row, createdAt);
  const rest = domains.filter((one) => one.domain !== domain);
  if (rest.length === domains.length) throw notFound();
  return { addresses: rewrite(projectId, row, rest), name: DomainName.delete({ domain }) };
}
