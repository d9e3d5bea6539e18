import {
  Addresses,
  type AddressesRow,
  Build,
  type BuildRow,
  DomainName,
  Lock,
  type LockRow,
} from "../../builds/model/rows.ts";
import { AccessKey, ProjectKeys, type ProjectKeysRow } from "../../http/model/credentials.ts";
import { Project, ProjectEntry, type ProjectRow } from "../../http/model/project.ts";
import { countDown } from "../../organizations/model/totals.ts";
import { absent, oneOf, type Write } from "../../table/entity.ts";
import type { Writes } from "../../table/writer.ts";

/** A project as it was read for its deletion. */
export interface DeletedProject {
  project: ProjectRow;
  keys: ProjectKeysRow | undefined;
  addresses: AddressesRow | undefined;
  lock: LockRow | undefined;
  build: BuildRow | undefined;
}

/** Keys and domains are free at once; fails if one was added since they were read. */
function freed({ project, keys, addresses }: DeletedProject): Writes {
  const projectId = project.id;
  const domains = Object.keys(addresses?.domains ?? {});
  return {
    keys: keys
      ? ProjectKeys.delete({ projectId }, { lastId: keys.lastId, held: keys.held })
      : ProjectKeys.check({ projectId }, { pk: absent }),
    ...Object.fromEntries((keys?.keys ?? []).map(({ access }) => [`key:${access}`, AccessKey.delete({ access })])),
    addresses: addresses && Addresses.delete({ projectId }, { revision: addresses.revision ?? absent }),
    ...Object.fromEntries(domains.map((domain) => [`domain:${domain}`, DomainName.delete({ domain })])),
  };
}

/** The build that runs is canceled, whatever its stage; fails if another one has begun. */
function canceled({ project, lock, build }: DeletedProject, at: string): Record<string, Write | undefined> {
  const projectId = project.id;
  if (!lock) return { lock: Lock.check({ projectId }, { pk: absent }) };
  return {
    lock: Lock.delete({ projectId }, { buildId: lock.buildId }),
    build:
      build &&
      Build.update(
        { projectId, id: build.id },
        { set: { canceledAt: at, updatedAt: at }, remove: ["uploadToken"] },
        { status: oneOf("pending", "analyzing", "building", "deploying"), canceledAt: absent },
      ),
  };
}

/** Everything of a project that must be gone before its deletion is answered; the removal deletes the rest. */
export function deletionOf(deleted: DeletedProject, now: Date): Writes {
  const { id, organizationId, updatedAt } = deleted.project;
  return {
    project: Project.delete({ id }, { organizationId, updatedAt: updatedAt ?? absent }),
    entry: ProjectEntry.delete({ organizationId, id }),
    totals: countDown(deleted.project, "projects"),
    ...freed(deleted),
    ...canceled(deleted, now.toISOString()),
  };
}
