import { useMemo, useState } from "preact/hooks";
import { client } from "../api.ts";
import { Button } from "../components/button.tsx";
import { Snippet } from "../components/copy.tsx";
import { PanelForm } from "../components/form.tsx";
import { Loading } from "../components/loading.tsx";
import { Page, useOrganizations } from "../components/shell.tsx";
import { AccessChoice, OrganizationChoice } from "../components/token-bounds.tsx";
import { UserText } from "../components/user-text.tsx";
import { answerAddress, type ConnectRequest, readConnectRequest } from "../connect-request.ts";
import { useMutation } from "../mutation.ts";
import { user } from "../session.ts";

type Outcome = { state: "sent" } | { state: "refused" } | { state: "code"; code: string };

function Done({ outcome }: { outcome: Outcome }) {
  switch (outcome.state) {
    case "sent":
      return <p role="status">The tool got the answer. You can close this tab.</p>;
    case "refused":
      return <p role="status">The tool got no access. You can close this tab.</p>;
    case "code":
      return (
        <div class="prose" role="status">
          <p>Type this code into the tool. It is valid for five minutes, once. Do not share it.</p>
          <Snippet text={outcome.code} what="the code" />
        </div>
      );
  }
}

/** Asks whether a tool may act for the user, and for what. */
function Agreement({ request }: { request: ConnectRequest }) {
  const { tool, challenge, redirect, state } = request;
  const organizations = useOrganizations();
  const [access, setAccess] = useState(request.access);
  const [chosen, setChosen] = useState<readonly string[] | null>(
    request.organizationIds.length > 0 ? request.organizationIds : null,
  );
  const [outcome, setOutcome] = useState<Outcome | undefined>(undefined);
  const agree = useMutation(
    (_: undefined, call) =>
      client.createConnectionCode({ tool, challenge, access, organizationIds: chosen && [...chosen] }, call),
    {
      onDone: ({ code }) => {
        setOutcome(redirect ? { state: "sent" } : { state: "code", code });
        if (redirect) location.assign(answerAddress(redirect, state, { code }));
      },
    },
  );
  const refuse = () => {
    setOutcome({ state: "refused" });
    if (redirect) location.assign(answerAddress(redirect, state, { error: "access_denied" }));
  };
  if (outcome) return <Done outcome={outcome} />;
  return (
    <PanelForm
      of={agree}
      onSubmit={() => void agree.run()}
      action="Agree"
      disabled={chosen?.length === 0}
      more={<Button onClick={refuse}>Refuse</Button>}
    >
      <p>
        <UserText strong>{tool}</UserText> asks to act for you, <UserText strong>{user.value?.name ?? ""}</UserText>.
      </p>
      <p class="note">Agree only if you have just started this tool yourself.</p>
      <AccessChoice value={access} onChange={setAccess} most={request.access} />
      <Loading of={organizations} what="your organizations">
        {({ organizations }) => (
          <OrganizationChoice organizations={organizations} value={chosen} onChange={setChosen} />
        )}
      </Loading>
      <p class="hint">The tool gets a personal access token. You can delete it at any time: Organization, Tokens.</p>
    </PanelForm>
  );
}

/** Where a tool such as the command line sends its user to get access (docs/api.md, Sign-in). */
export function ConnectPage() {
  const request = useMemo(() => readConnectRequest(location.search), []);
  return (
    <Page title="Connect a tool">
      {request ? (
        <Agreement request={request} />
      ) : (
        <p class="note">This address is not complete. Start the tool again, and open the address that it shows.</p>
      )}
    </Page>
  );
}
