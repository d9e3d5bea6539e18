export { DatabasesPage } from "../pages/databases.tsx";
export { FilesPage } from "../pages/files.tsx";
export { StoragesPage } from "../pages/storages.tsx";
export { TablePage } from "../pages/table.tsx";
export { TablesPage } from "../pages/tables.tsx";
