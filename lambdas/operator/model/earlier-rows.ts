import { Addresses, DomainName } from "../../builds/model/rows.ts";
import { Membership } from "../../http/model/credentials.ts";
import { Project, ProjectEntry } from "../../http/model/project.ts";
import { addressOf } from "../../organizations/model/members.ts";
import { Member, Organization, OrganizationTotals, User, UserEmail } from "../../organizations/model/rows.ts";
import { type Counted, countedVersion } from "../../organizations/model/totals.ts";
import { Storage } from "../../storage/model/rows.ts";
import { absent, type Item, present } from "../../table/entity.ts";
import { randomText } from "../../table/ids.ts";
import type { TableReader } from "../../table/reader.ts";
import type { Writes } from "../../table/writer.ts";
import { Database, DatabaseEntry } from "../../tables/model/database.ts";

/** What a row of an earlier version needs. */
export interface Upgrades {
  /** Transactions; each fails if the row has changed since it was read. */
  writes: Writes[];
  /** What only a person can decide, a sentence each. */
  conflicts: string[];
}
type Upgrade = (item: Item, table: TableReader) => Promise<Upgrades>;

const nothing: Upgrades = { writes: [], conflicts: [] };
const one = (writes: Writes): Upgrades => ({ writes: [writes], conflicts: [] });

const counted = (organizationId: string, counts: { [Kind in Counted | "owners"]?: number }) =>
  OrganizationTotals.update({ organizationId }, { add: counts });
const uncounted = { pk: present, version: { is: "absentOrBelow", value: countedVersion } } as const;

/** Lists of an organization need its secret, for their cursors. */
const organization: Upgrade = async (item) => {
  const { id, secret } = Organization.read(item);
  if (secret !== undefined) return nothing;
  const set = { secret: randomText(32) };
  return one({ organization: Organization.update({ id }, { set }, { pk: present, secret: absent }) });
};

/** An invitation finds its user by e-mail; of several users with one address, the first. */
const user: Upgrade = async (item, table) => {
  const { id, email, name } = User.read(item);
  const address = addressOf(email);
  const { known } = await table.read({ known: UserEmail.at({ address }) });
  if (known && known.id <= id) return nothing;
  const first = { is: "absentOrAbove", value: id } as const;
  const row = UserEmail.put({ address }, { id, email, name }, { id: first });
  return one({ user: User.check({ id }, { pk: present }), email: row });
};

/** The list of members; when a user became a member was not recorded, so the later of both beginnings is taken. */
const membership: Upgrade = async (item, table) => {
  const { userId: id, organizationId, role } = Membership.read(item);
  const rows = await table.read({
    member: Member.at({ organizationId, id }),
    user: User.at({ id }),
    organization: Organization.at({ id: organizationId }),
  });
  if (rows.member || !rows.user || !rows.organization) return nothing;
  const { name, email, createdAt } = rows.user;
  const since = [createdAt, rows.organization.createdAt].toSorted().at(-1) ?? createdAt;
  const member = { id, organizationId, name, email, role, createdAt: since };
  return one({
    membership: Membership.check({ userId: id, organizationId }, { role }),
    member: Member.put(member, member, { pk: absent }),
    totals: counted(organizationId, { members: 1, owners: Number(role === "owner") }),
  });
};

const project: Upgrade = async (item, table) => {
  const row = Project.read(item);
  if (row.version >= countedVersion) return nothing;
  const { secret: _, ...listed } = { ...row, version: countedVersion };
  const { entry } = await table.read({ entry: ProjectEntry.at(row) });
  const when = { ...uncounted, updatedAt: row.updatedAt ?? absent };
  const version = Project.update(row, { set: { version: countedVersion } }, when);
  // An entry without the version was counted when it was made.
  if (entry) return one({ project: version });
  const totals = counted(row.organizationId, { projects: 1 });
  return one({ project: version, entry: ProjectEntry.put(row, listed), totals });
};

const database: Upgrade = async (item, table) => {
  const row = Database.read(item);
  if (row.version >= countedVersion) return nothing;
  const { secret: _, ...listed } = { ...row, version: countedVersion };
  const { entry } = await table.read({ entry: DatabaseEntry.at(row) });
  const when = { ...uncounted, name: row.name };
  const version = Database.update(row, { set: { version: countedVersion } }, when);
  if (entry) return one({ database: version });
  const totals = counted(row.organizationId, { databases: 1 });
  return one({ database: version, entry: DatabaseEntry.put(row, listed), totals });
};

const storage: Upgrade = async (item) => {
  const row = Storage.read(item);
  if (row.version >= countedVersion) return nothing;
  const version = Storage.update(row, { set: { version: countedVersion } }, uncounted);
  return one({ storage: version, totals: counted(row.organizationId, { storages: 1 }) });
};

/** A domain belongs to one project. */
const addresses: Upgrade = async (item, table) => {
  const { domains, revision } = Addresses.read(item);
  const projectId = String(item.pk).slice("PRJ#".length);
  const names = Object.keys(domains);
  if (names.length === 0) return nothing;
  const taken = await table.read(Object.fromEntries(names.map((domain) => [domain, DomainName.at({ domain })])));
  const writes = names
    .filter((domain) => taken[domain] === undefined)
    .map((domain) => ({
      addresses: Addresses.check({ projectId }, { revision: revision ?? absent, pk: present }),
      name: DomainName.put({ domain }, { projectId }, { pk: absent }),
    }));
  const conflicts = names.flatMap((domain) => {
    const owner = taken[domain]?.projectId ?? projectId;
    if (owner === projectId) return [];
    return [`The domain ${domain} is listed by ${projectId} and belongs to ${owner}. Remove it from one of them.`];
  });
  return { writes, conflicts };
};

const upgrades: readonly [sk: RegExp, Upgrade][] = [
  [/^ORG$/, organization],
  [/^USR$/, user],
  [/^MEM#/, membership],
  [/^PRJ$/, project],
  [/^DBS$/, database],
  [/^STO#/, storage],
  [/^ADDR$/, addresses],
];

/** What a row of an earlier version lacks; nothing for a row that is up to date. */
export async function upgradesOf(item: Item, table: TableReader): Promise<Upgrades> {
  const [, upgrade] = upgrades.find(([sk]) => sk.test(String(item.sk))) ?? [];
  return upgrade ? upgrade(item, table) : nothing;
}
