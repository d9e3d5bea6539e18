export { DomainsPage } from "../pages/domains.tsx";
export { KeysPage } from "../pages/keys.tsx";
export { SettingsPage } from "../pages/settings.tsx";
export { VariablesPage } from "../pages/variables.tsx";
