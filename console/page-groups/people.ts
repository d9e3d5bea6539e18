export { AccountPage } from "../pages/account.tsx";
export { ConnectPage } from "../pages/connect.tsx";
export { OrganizationPage } from "../pages/organization.tsx";
export { OrganizationEventsPage } from "../pages/organization-events.tsx";
export { OrganizationTokensPage } from "../pages/organization-tokens.tsx";
