import { useState } from "preact/hooks";
import { client } from "../api.ts";
import { Button } from "../components/button.tsx";
import { ConfirmByName, Dialog } from "../components/dialog.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { ErrorMessage } from "../components/error-message.tsx";
import { TextField } from "../components/field.tsx";
import { DialogForm } from "../components/form.tsx";
import { Loading } from "../components/loading.tsx";
import { Page } from "../components/shell.tsx";
import { Status } from "../components/status.tsx";
import { Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { UserText } from "../components/user-text.tsx";
import { fieldErrors } from "../explain.ts";
import { useLoad } from "../load.ts";
import { useMutation } from "../mutation.ts";
import { forget, signOut, user } from "../session.ts";

/** Makes a passkey on this device and adds it to the user. */
async function addPasskey(name: string): Promise<void> {
  const { startRegistration } = await import("../passkeys.ts");
  const { options } = await client.beginPasskey();
  type Input = Parameters<typeof client.createPasskey>[0];
  // biome-ignore lint/suspicious/noExplicitAny: the service made the options for the browser, and checks the answer
  const made = await startRegistration({ optionsJSON: options as any }).catch((error: unknown) => {
    if (!(error instanceof Error)) throw error;
    if (error.name === "InvalidStateError") throw new Error("This device has a passkey for your account already.");
    if (error.name === "NotAllowedError") throw new Error("The browser made no passkey. Try again.");
    if (error.name === "SecurityError")
      throw new Error("Passkeys work on localhost and on a host name with HTTPS only.");
    throw error;
  });
  await client.createPasskey({ name, response: made as unknown as Input["response"] });
}

function AddPasskey({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const add = useMutation((text: string) => addPasskey(text), { refreshes: "passkeys", onDone: onClose });
  return (
    <Dialog title="Add a passkey" onClose={onClose}>
      <DialogForm of={add} onSubmit={() => void add.run(name)} action="Add passkey" onClose={onClose}>
        <TextField
          label="Name"
          hint="Such as the name of this computer or of the security key."
          value={name}
          onInput={setName}
          required
          autofocus
          error={fieldErrors(add.error).name}
        />
      </DialogForm>
    </Dialog>
  );
}

function Passkeys() {
  const passkeys = useLoad("passkeys", (signal) => client.listPasskeys({}, { signal }));
  const [isAdding, setAdding] = useState(false);
  const [leaving, setLeaving] = useState<{ id: string; name: string } | undefined>(undefined);
  const remove = useMutation(() => client.deletePasskey({ passkeyId: leaving?.id ?? "" }), { refreshes: "passkeys" });
  const add = (
    <Button kind="primary" onClick={() => setAdding(true)}>
      Add a passkey
    </Button>
  );
  return (
    <section class="block-section" aria-label="Passkeys">
      <div class="page-head">
        <h2>Passkeys</h2>
        {(passkeys.data?.passkeys.length ?? 0) > 0 && add}
      </div>
      <Loading of={passkeys} what="passkeys">
        {({ passkeys }) =>
          passkeys.length === 0 ? (
            <EmptyState title="No passkey yet">
              <p>
                With a passkey you sign in by fingerprint, face or PIN, without waiting for a link. It stays on your
                device, and there is no password that could leak.
              </p>
              {add}
            </EmptyState>
          ) : (
            <Table
              label="Passkeys"
              rows={passkeys}
              rowKey={({ id }) => id}
              columns={[
                { head: "Name", cell: ({ name }) => <UserText strong>{name}</UserText> },
                { head: "Added", cell: ({ createdAt }) => <Time at={createdAt} /> },
                { head: "Last used", cell: ({ lastUsedAt }) => (lastUsedAt ? <Time at={lastUsedAt} /> : "Never") },
                {
                  head: "",
                  align: "end",
                  cell: (passkey) => (
                    <Button
                      kind="danger"
                      label={`Delete ${passkey.name}`}
                      onClick={() => {
                        remove.clear();
                        setLeaving(passkey);
                      }}
                    >
                      Delete
                    </Button>
                  ),
                },
              ]}
            />
          )
        }
      </Loading>
      {isAdding && <AddPasskey onClose={() => setAdding(false)} />}
      {leaving && (
        <ConfirmByName
          title="Delete this passkey?"
          name={leaving.name}
          action="Delete passkey"
          mutation={remove}
          onClose={() => setLeaving(undefined)}
        >
          <p>It can no longer be used to sign in. Your other passkeys and your sessions stay.</p>
        </ConfirmByName>
      )}
    </section>
  );
}

/** The browser and the system in a user agent's text, if they can be recognized. */
function deviceOf(userAgent: string | null): string {
  if (!userAgent) return "Unknown browser";
  const browser = [
    ["Edg/", "Edge"],
    ["Firefox/", "Firefox"],
    ["Chrome/", "Chrome"],
    ["Safari/", "Safari"],
  ].find(([mark = ""]) => userAgent.includes(mark))?.[1];
  const system = ["Windows", "Android", "iPhone", "iPad", "Mac OS X", "Linux"].find((name) => userAgent.includes(name));
  return browser ? `${browser}${system ? ` on ${system.replace("Mac OS X", "macOS")}` : ""}` : userAgent.slice(0, 60);
}

function Sessions() {
  const sessions = useLoad("sessions", (signal) => client.listConsoleSessions({}, { signal }));
  const end = useMutation((sessionId: string) => client.endConsoleSession({ sessionId }), { refreshes: "sessions" });
  const endAll = useMutation(() => client.deleteConsoleSessions(), { onDone: forget });
  return (
    <section class="block-section" aria-label="Sessions">
      <div class="page-head">
        <h2>Where you are signed in</h2>
        <Button kind="danger" busy={endAll.busy} onClick={() => void endAll.run()}>
          Sign out everywhere
        </Button>
      </div>
      <ErrorMessage of={end} />
      <ErrorMessage of={endAll} />
      <Loading of={sessions} what="sessions">
        {({ sessions }) => (
          <Table
            label="Sessions"
            rows={sessions}
            rowKey={({ id }) => id}
            columns={[
              {
                head: "Browser",
                cell: ({ userAgent, isCurrent }) => (
                  <span class="actions" title={userAgent ?? undefined}>
                    <UserText>{deviceOf(userAgent)}</UserText> {isCurrent && <Status tone="good">This browser</Status>}
                  </span>
                ),
              },
              { head: "Signed in", cell: ({ createdAt }) => <Time at={createdAt} /> },
              { head: "Last used", cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
              { head: "Ends", cell: ({ expiresAt }) => <Time at={expiresAt} /> },
              {
                head: "",
                align: "end",
                cell: (session) =>
                  session.isCurrent ? null : (
                    <Button
                      label={`Sign out ${deviceOf(session.userAgent)}`}
                      busy={end.busy}
                      onClick={() => void end.run(session.id)}
                    >
                      Sign out
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </Loading>
    </section>
  );
}

export function AccountPage() {
  const leave = useMutation(() => signOut());
  return (
    <Page
      title="Your account"
      about={
        <>
          <UserText>{user.value?.name ?? ""}</UserText> · <UserText>{user.value?.email ?? ""}</UserText>
        </>
      }
      actions={
        <Button busy={leave.busy} onClick={() => void leave.run()}>
          Sign out
        </Button>
      }
    >
      <ErrorMessage of={leave} />
      <Passkeys />
      <Sessions />
    </Page>
  );
}
