import { useEffect } from "preact/hooks";
import { AuthenticationError } from "../../sdk/browser.ts";
import { Snippet } from "../components/copy.tsx";
import { ErrorMessage } from "../components/error-message.tsx";
import { Logo } from "../components/shell.tsx";
import { SignInForm } from "../components/sign-in-form.tsx";
import { useMutation } from "../mutation.ts";
import { paths, useGo } from "../paths.ts";
import { signInWithCode, user } from "../session.ts";

/** The code of the link that opened this page; it is taken out of the address, which the browser would keep. */
function takeCode(): string | undefined {
  const code = /^#code=(.+)$/.exec(location.hash)?.[1];
  if (code !== undefined) history.replaceState(null, "", location.pathname);
  return code;
}

/** Signs in by the one-time link that opened it, or asks how to sign in. */
export function SignInPage() {
  const go = useGo();
  const byLink = useMutation((code: string) =>
    signInWithCode(code).catch((error: unknown) => {
      if (!(error instanceof AuthenticationError)) throw error;
      throw new Error("This link does not work any more: each link signs in once, within 15 minutes. Get a new one.");
    }),
  );
  useEffect(() => {
    document.title = "Sign in · Slipway";
    const code = takeCode();
    if (code !== undefined) void byLink.run(code);
  }, []);
  const isSignedIn = Boolean(user.value);
  useEffect(() => {
    if (isSignedIn && location.pathname === "/console/sign-in") go(paths.home, true);
  }, [isSignedIn]);
  if (byLink.busy) {
    return (
      <p class="loading" role="status">
        Signing in…
      </p>
    );
  }
  return (
    <main class="narrow" id="main">
      <h1 tabIndex={-1}>
        <Logo /> Sign in to Slipway
      </h1>
      <ErrorMessage of={byLink} />
      <SignInForm />
      <details class="note">
        <summary>How do I get a link?</summary>
        <p>On the machine where Slipway runs, this prints a new link for the first user:</p>
        <Snippet text="npm run slipway -- console" what="the command" />
        <p>Elsewhere, ask an administrator for an invitation or a link. Once you are signed in, add a passkey.</p>
      </details>
    </main>
  );
}
