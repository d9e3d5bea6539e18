import { useState } from "preact/hooks";
import { AuthenticationError } from "../../sdk/browser.ts";
import { useMutation } from "../mutation.ts";
import { signInWithCode, signInWithPasskey } from "../session.ts";
import { Button } from "./button.tsx";
import { ErrorMessage } from "./error-message.tsx";
import { TextField } from "./field.tsx";
import { Form } from "./form.tsx";

/** The code in a one-time link, or the text itself if it is only the code. */
function codeIn(text: string): string {
  return (/#code=([^&\s]+)/.exec(text)?.[1] ?? text).trim();
}

/** Passkeys belong to a host name; browsers refuse them on an address of numbers. */
const hostIsNumbers = /^[\d.]+$|^\[/.test(location.hostname);

function inWords(error: unknown, way: "passkey" | "link"): unknown {
  if (error instanceof AuthenticationError) {
    return new Error(
      way === "link"
        ? "This link does not work any more: each link signs in once, within 15 minutes. Get a new one."
        : "This passkey is not known here. Use another one, or a sign-in link.",
    );
  }
  if (error instanceof Error && error.name === "NotAllowedError") {
    return new Error("The browser did not use a passkey. Try again, or use a sign-in link.");
  }
  return error;
}

/** The ways to sign in: a passkey, or a one-time link that is pasted. */
export function SignInForm() {
  const [text, setText] = useState("");
  const byPasskey = useMutation(() =>
    signInWithPasskey().catch((error: unknown) => Promise.reject(inWords(error, "passkey"))),
  );
  const byLink = useMutation((code: string) =>
    signInWithCode(code).catch((error: unknown) => Promise.reject(inWords(error, "link"))),
  );
  return (
    <div class="sign-in">
      {hostIsNumbers ? (
        <p class="note">
          Passkeys need a host name: open{" "}
          <a href={`http://localhost:${location.port}${location.pathname}`}>localhost:{location.port}</a> instead.
        </p>
      ) : (
        <Button kind="primary" busy={byPasskey.busy} onClick={() => void byPasskey.run()}>
          Sign in with a passkey
        </Button>
      )}
      <ErrorMessage of={byPasskey} />
      <Form onSubmit={() => void byLink.run(codeIn(text))}>
        <TextField label="Or paste a sign-in link" value={text} onInput={setText} required inputMode="url" />
        <ErrorMessage of={byLink} />
        <Button type="submit" busy={byLink.busy}>
          Sign in with the link
        </Button>
      </Form>
    </div>
  );
}
