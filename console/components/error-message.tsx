import { explain } from "../explain.ts";
import { useProject } from "../paths.ts";
import { Button } from "./button.tsx";
import { UserText } from "./user-text.tsx";

interface Failed {
  error: unknown;
  busy?: boolean;
  retry?: (() => void) | undefined;
  reload?: () => void;
}

/** Explains the error of a change or a load, and what to do. Put it beside the control that makes the change. */
export function ErrorMessage({ of: failed }: { of: Failed }) {
  const { ids, path } = useProject();
  const { error, busy } = failed;
  if (error === undefined) return null;
  const { text, advice, people, link, canRetry, requestId } = explain(error, ids.projectId ? path : undefined);
  const retry = failed.retry ?? failed.reload;
  return (
    <div class="error-message" role="alert">
      <p>
        <strong dir="auto">{text}</strong> {advice}
      </p>
      {people && people.length > 0 && (
        <ul>
          {people.map(({ name, email }) => (
            <li key={email}>
              <UserText>{name}</UserText> (<UserText>{email}</UserText>)
            </li>
          ))}
        </ul>
      )}
      <p class="actions">
        {link && <a href={link.href}>{link.text}</a>}
        {canRetry && retry && (
          <Button onClick={retry} busy={busy ?? false}>
            Try again
          </Button>
        )}
        {requestId && <small class="muted">Request {requestId}</small>}
      </p>
    </div>
  );
}
