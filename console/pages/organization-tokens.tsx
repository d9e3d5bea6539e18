import { useState } from "preact/hooks";
import type { TokenReply } from "../../api/me.ts";
import { client } from "../api.ts";
import { Button } from "../components/button.tsx";
import { Snippet } from "../components/copy.tsx";
import { ConfirmByName } from "../components/dialog.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { Loading } from "../components/loading.tsx";
import { Page, useOrganizations } from "../components/shell.tsx";
import { Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { accessName } from "../components/token-bounds.tsx";
import { UserText } from "../components/user-text.tsx";
import { useLoad } from "../load.ts";
import { useMutation } from "../mutation.ts";
import { toolSetups } from "../tool-setups.ts";
import { OrganizationParts } from "./organization.tsx";
import { TokenDialog } from "./organization-token-form.tsx";

function DeleteDialog({ token, onClose }: { token: TokenReply; onClose: () => void }) {
  const remove = useMutation((_: string) => client.deleteToken({ tokenId: token.id }), { refreshes: "tokens" });
  return (
    <ConfirmByName
      title="Delete token"
      name={token.description || token.id}
      action="Delete token"
      mutation={remove}
      onClose={onClose}
    >
      <p>The tool that uses it loses its access at once.</p>
    </ConfirmByName>
  );
}

/** What to enter in an AI tool, so that it can use the service. */
function ToolSetups() {
  return (
    <section class="panel" aria-label="Connect an AI tool">
      <h2>Connect an AI tool</h2>
      <p>
        Create a token, put it into the environment variable SLIPWAY_TOKEN, and tell the tool where the service is. It
        can do no more than the token: it never reads values of variables, and deletes nothing.
      </p>
      {toolSetups(location.origin).map(({ tool, where, text }) => (
        <details class="note" key={tool}>
          <summary>{tool}</summary>
          <p>{where}</p>
          <Snippet text={text} what={`the setup of ${tool}`} />
        </details>
      ))}
    </section>
  );
}

/** The user's personal access tokens. */
export function OrganizationTokensPage() {
  const [isCreating, setCreating] = useState(false);
  const [removed, setRemoved] = useState<TokenReply | undefined>(undefined);
  const tokens = useLoad("tokens", (signal) => client.listTokens({}, { signal }));
  const names = new Map(useOrganizations().data?.organizations.map(({ id, name }) => [id, name]));
  return (
    <Page
      title="Tokens"
      about="Your personal access tokens: with one, a tool acts for you, within its access."
      actions={
        <Button kind="primary" onClick={() => setCreating(true)}>
          Create token
        </Button>
      }
    >
      <OrganizationParts />
      <Loading of={tokens} what="tokens">
        {({ tokens }) =>
          tokens.length === 0 ? (
            <EmptyState title="No tokens yet">
              <p>The command line gets one by itself: run slipway login.</p>
            </EmptyState>
          ) : (
            <Table<TokenReply>
              label="Tokens"
              rows={tokens}
              rowKey={({ id }) => id}
              columns={[
                { head: "Description", cell: ({ description }) => <UserText>{description || "—"}</UserText> },
                { head: "Access", cell: ({ access }) => accessName(access) },
                {
                  head: "Organizations",
                  cell: ({ organizationIds }) =>
                    organizationIds === null ? (
                      "All"
                    ) : (
                      <UserText>{organizationIds.map((id) => names.get(id) ?? id).join(", ")}</UserText>
                    ),
                },
                {
                  head: "Last used",
                  cell: ({ lastUsedAt }) => (lastUsedAt ? <Time at={lastUsedAt} /> : <span class="muted">never</span>),
                },
                {
                  head: "Ends",
                  cell: ({ expiresAt }) => (expiresAt ? <Time at={expiresAt} /> : <span class="muted">never</span>),
                },
                {
                  head: "",
                  cell: (token) => (
                    <span class="actions">
                      <Button
                        kind="danger"
                        label={`Delete ${token.description || token.id}`}
                        onClick={() => setRemoved(token)}
                      >
                        Delete
                      </Button>
                    </span>
                  ),
                },
              ]}
            />
          )
        }
      </Loading>
      <ToolSetups />
      {isCreating && <TokenDialog onClose={() => setCreating(false)} />}
      {removed && <DeleteDialog token={removed} onClose={() => setRemoved(undefined)} />}
    </Page>
  );
}
