export { AppPage } from "../pages/app.tsx";
export { BuildPage } from "../pages/build.tsx";
export { BuildsPage } from "../pages/builds.tsx";
export { OverviewPage } from "../pages/overview.tsx";
