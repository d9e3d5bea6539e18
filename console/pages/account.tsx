import { Page } from "../components/shell.tsx";

export function AccountPage() {
  return <Page title="Account">{null}</Page>;
}
