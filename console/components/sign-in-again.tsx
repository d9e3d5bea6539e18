import { useEffect } from "preact/hooks";
import { interrupted, lookAgain, stopWaiting, user } from "../session.ts";
import { Dialog } from "./dialog.tsx";
import { SignInForm } from "./sign-in-form.tsx";

/** Asks the user to sign in again if the session ended while a page was open; the page below keeps the typed text. */
export function SignInAgain() {
  const isOpen = interrupted.value;
  useEffect(() => {
    if (!isOpen) return;
    // The person may have signed in on another tab.
    const look = () => {
      if (document.visibilityState === "visible") void lookAgain();
    };
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, [isOpen]);
  if (!isOpen) return null;
  return (
    <Dialog title="Your session has ended" onClose={stopWaiting}>
      <p>
        Sign in again as <bdi dir="auto">{user.value?.name}</bdi> to go on. What you entered is still there.
      </p>
      <SignInForm />
    </Dialog>
  );
}
