import type { Page } from "playwright-core";

/** A build as the list of builds returns it; tests and benchmarks override fields. */
export const listedBuild = {
  id: "bld_0001",
  title: "Build 1",
  status: "ready",
  description: null,
  commit: null,
  version: null,
  runtime: "nodejs24.x",
  size: 1_000,
  error: null,
  suggestion: null,
  createdAt: "2026-11-20T10:00:00.000Z",
  updatedAt: "2026-11-20T10:00:09.000Z",
  isLive: false,
  canRedeploy: false,
  redeployBlockedBy: null,
};

/** Answers the page's lists of builds with `count` of them, a hundred at a time: the newest serves, and each seventh has failed. */
export async function answerWithBuilds(page: Page, count: number): Promise<void> {
  const all = Array.from({ length: count }, (_, index) => ({
    ...listedBuild,
    id: `bld_${String(count - index).padStart(4, "0")}`,
    title: `Build ${count - index}`,
    status: index % 7 === 3 ? "error" : "ready",
    isLive: index === 0,
    canRedeploy: index > 0,
    redeployBlockedBy: index === 0 ? "live" : null,
  }));
  await page.route("**/builds?*", (route) => {
    const from = Number(new URL(route.request().url()).searchParams.get("cursor") ?? 0);
    const nextCursor = from + 100 < all.length ? String(from + 100) : null;
    const json = { builds: all.slice(from, from + 100), nextCursor, redeployAvailability: { status: "available" } };
    return route.fulfill({ json });
  });
}
