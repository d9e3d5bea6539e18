import { effect } from "@preact/signals";
import { useErrorBoundary, useLayoutEffect, useState } from "preact/hooks";
import { LocationProvider, Route, Router } from "preact-iso/router";
import { AuthenticationError } from "../sdk/browser.ts";
import { Button } from "./components/button.tsx";
import { ErrorMessage } from "./components/error-message.tsx";
import { focusNextTitle, Shell } from "./components/shell.tsx";
import { SignInAgain } from "./components/sign-in-again.tsx";
import { forgetLoaded } from "./load.ts";
import { MissingPage } from "./pages/missing.tsx";
import { SignInPage } from "./pages/sign-in.tsx";
import { pageRoutes } from "./routes.ts";
import { signedIn, user } from "./session.ts";

// Loaded data belongs to the user who was signed in.
effect(() => {
  if (user.value === null) forgetLoaded();
});

/** The page of the address. After an error in a page's code, the navigation still works. */
function Pages() {
  const [error, reset] = useErrorBoundary();
  if (error !== undefined) {
    return (
      <main>
        <h1 tabIndex={-1}>This page does not work</h1>
        <ErrorMessage of={{ error }} />
        <Button onClick={reset}>Show it again</Button>
      </main>
    );
  }
  return (
    <Router onRouteChange={focusNextTitle}>
      {pageRoutes.map(({ path, component }) => (
        <Route key={path} path={path} component={component} />
      ))}
      <Route default component={MissingPage} />
    </Router>
  );
}

/** Reads the session, and shows the page or the sign-in. The address stays the same, so that the page is shown after signing in. */
export function App() {
  const [error, setError] = useState<unknown>(undefined);
  // The link's code replaces any earlier session.
  const isLink = location.pathname === "/console/sign-in" && location.hash.startsWith("#code=");
  const start = () => {
    setError(undefined);
    signedIn().catch((reason: unknown) => {
      if (!(reason instanceof AuthenticationError)) setError(reason);
    });
  };
  useLayoutEffect(() => {
    if (!isLink) start();
  }, []);
  const shown = () => {
    if (user.value) {
      return (
        <Shell>
          <Pages />
          <SignInAgain />
        </Shell>
      );
    }
    if (error !== undefined) {
      return (
        <main class="narrow">
          <h1>Slipway</h1>
          <ErrorMessage of={{ error, retry: start }} />
        </main>
      );
    }
    if (user.value === null || isLink) return <SignInPage />;
    return (
      <p class="loading" role="status">
        Loading…
      </p>
    );
  };
  return <LocationProvider scope="/console">{shown()}</LocationProvider>;
}
