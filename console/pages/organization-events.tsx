import type * as z from "zod";
import type { event } from "../../api/events.ts";
import { client } from "../api.ts";
import { EmptyState } from "../components/empty-state.tsx";
import { Loading } from "../components/loading.tsx";
import { Page } from "../components/shell.tsx";
import { ShowMore } from "../components/show-more.tsx";
import { Status } from "../components/status.tsx";
import { Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { UserText } from "../components/user-text.tsx";
import { actionText, actorText } from "../event-words.ts";
import { useLoad } from "../load.ts";
import { usePaged } from "../paged.ts";
import { useOrgId } from "../paths.ts";
import { OrganizationParts } from "./organization.tsx";

type Event = z.output<typeof event>;

const outcomes = { done: ["good", "Done"], refused: ["bad", "Refused"], unknown: ["warn", "Unknown"] } as const;

/** The changes in the organization, newest first. */
export function OrganizationEventsPage() {
  const orgId = useOrgId();
  const events = usePaged(`events/${orgId}`, async (cursor, signal) => {
    const { events, nextCursor } = await client.listEvents({ orgId, cursor }, { signal });
    return { items: events, nextCursor };
  });
  const { data } = useLoad(`members/${orgId}`, (signal) => client.listMembers({ orgId }, { signal }));
  const names = new Map(data?.members.map(({ id, name }) => [id, name]));
  return (
    <Page
      title="Audit trail"
      about="Every change in the organization, kept for a year. It holds no values and no secrets."
    >
      <OrganizationParts />
      <Loading of={events} what="changes">
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState title="No changes yet" />
          ) : (
            <Table<Event>
              label="Changes"
              rows={items}
              rowKey={({ id }) => id}
              columns={[
                {
                  head: "When",
                  cell: ({ at }) => (
                    <span class="nowrap">
                      <Time at={at} />
                    </span>
                  ),
                },
                { head: "Who", cell: ({ actor }) => <UserText>{actorText(actor, names)}</UserText> },
                { head: "What", cell: ({ action }) => actionText(action) },
                {
                  head: "Where",
                  cell: ({ ids }) => (
                    <span class="ids mono">
                      {Object.entries(ids)
                        .filter(([name]) => name !== "organizationId")
                        .map(([name, id]) => (
                          <UserText key={name}>{[id].flat().join(", ")}</UserText>
                        ))}
                    </span>
                  ),
                },
                {
                  head: "Outcome",
                  cell: ({ outcome }) => <Status tone={outcomes[outcome][0]}>{outcomes[outcome][1]}</Status>,
                },
              ]}
            />
          )
        }
      </Loading>
      <ShowMore of={events} what="changes" />
    </Page>
  );
}
