import { LinkButton } from "../components/button.tsx";
import { Page } from "../components/shell.tsx";
import { paths } from "../paths.ts";

export function MissingPage() {
  return (
    <Page title="There is no such page">
      <p>The address may be incomplete, or the page was removed.</p>
      <div class="actions">
        <LinkButton href={paths.home} kind="primary">
          Go to your projects
        </LinkButton>
      </div>
    </Page>
  );
}
