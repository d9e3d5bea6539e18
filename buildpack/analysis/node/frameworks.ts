import { type App, rootFiles } from "../app.ts";
import { quoted } from "../diagnostics.ts";
import type { StaticSite } from "../plan.ts";
import { stringAt, type Table } from "../values.ts";
import type { Dependencies } from "./dependencies.ts";
import { siteOf } from "./static.ts";
import { astroDir, configText, configured } from "./static-folders.ts";

/** How a framework's build is started; `build` is its own build command, used where package.json has none. */
export interface FrameworkStart {
  start: string;
  build: string | null;
  static?: StaticSite;
  buildEnv?: Readonly<Record<string, string>>;
  /** Why the build cannot be started here, and what to add; `start` is then "". */
  obstacle?: string;
  /** Advice on a better start, if the app can be started anyway. */
  advice?: string;
}

type Framework = (app: App, manifest: Table | undefined, dependencies: Dependencies) => FrameworkStart | undefined;

const site = (dir: string, isSinglePage: boolean): FrameworkStart => ({
  start: "",
  build: null,
  static: siteOf(dir, isSinglePage),
});

const blocked = (obstacle: string): FrameworkStart => ({ start: "", build: null, obstacle });

/** A server of the app's own beside its framework. */
const hasOwnServer = (app: App): boolean =>
  rootFiles(app).some((name) => /^(server|app|index)\.[cm]?[jt]s$/.test(name)) || app.hasFolder("server");

function next(app: App, _manifest: Table | undefined, dependencies: Dependencies): FrameworkStart | undefined {
  if (!dependencies.has("next")) return undefined;
  const text = configText(app, "next.config") ?? "";
  if (/\boutput\s*:\s*['"]export['"]/.test(text)) {
    // Next.js writes to "out" unless distDir is another folder than its own default.
    const dir = configured(text, "distDir") ?? ".next";
    return { ...site(dir === ".next" ? "out" : dir, false), build: "next build" };
  }
  return { start: "next start", build: "next build" };
}

function nuxt(app: App, manifest: Table | undefined, dependencies: Dependencies): FrameworkStart | undefined {
  const range = dependencies.get("nuxt") ?? dependencies.get("nuxt3") ?? dependencies.get("nuxt-nightly");
  if (range === undefined) return undefined;
  if (/^[\^~]?2\b/.test(range) || dependencies.has("nuxt-start")) return { start: "nuxt start", build: "nuxt build" };
  const build = stringAt(manifest, "scripts", "build") ?? "";
  if (/\bgenerate\b/.test(build)) return site(".output/public", false);
  if (/\bpreset\s*:\s*['"]static['"]/.test(configText(app, "nuxt.config") ?? "")) return site(".output/public", false);
  return { start: "node .output/server/index.mjs", build: "nuxt build" };
}

function sveltekit(app: App, _manifest: Table | undefined, dependencies: Dependencies): FrameworkStart | undefined {
  if (!dependencies.has("@sveltejs/kit")) return undefined;
  const text = `${configText(app, "svelte.config") ?? ""}\n${configText(app, "vite.config") ?? ""}`;
  const out = /\bout\s*:\s*['"]([\w./-]+)['"]/.exec(text)?.[1] ?? "build";
  if (/adapter-static/.test(text) && dependencies.has("@sveltejs/adapter-static")) {
    const fallback = /\bfallback\s*:\s*['"]([\w.-]+)['"]/.exec(text)?.[1] ?? "404.html";
    return { start: "", build: "vite build", static: { dir: configured(text, "pages") ?? "build", fallback } };
  }
  const adapter = /adapter-[a-z-]*\w/.exec(text)?.[0];
  if (adapter === undefined || /adapter-node/.test(text)) return { start: `node ${out}`, build: "vite build" };
  const use = "use @sveltejs/adapter-node in svelte.config.js instead.";
  if (adapter !== "adapter-auto")
    return blocked(
      `SvelteKit is built for another platform (${quoted(adapter)}), which has no server to start; ${use}`,
    );
  // adapter-auto selects adapter-node if GCP_BUILDPACKS is set: the only platform it knows that runs a plain Node.js server.
  const advice = `SvelteKit's adapter-auto downloads adapter-node again at each build; ${use}`;
  return { start: `node ${out}`, build: "vite build", buildEnv: { GCP_BUILDPACKS: "true" }, advice };
}

function nest(app: App, manifest: Table | undefined, dependencies: Dependencies): FrameworkStart | undefined {
  if (!dependencies.has("@nestjs/core")) return undefined;
  const script = stringAt(manifest, "scripts", "start:prod");
  if (script === undefined && !app.has("src/main.ts")) return undefined;
  return { start: script ?? "node dist/main", build: "nest build" };
}

function reactRouter(app: App, _manifest: Table | undefined, dependencies: Dependencies): FrameworkStart | undefined {
  if (!dependencies.has("@react-router/dev")) return undefined;
  if (/\bssr\s*:\s*false/.test(configText(app, "react-router.config") ?? ""))
    return { ...site("build/client", true), build: "react-router build" };
  if (!dependencies.has("@react-router/serve"))
    return hasOwnServer(app)
      ? undefined
      : blocked("React Router is built without a server; add the package @react-router/serve.");
  return { start: "react-router-serve ./build/server/index.js", build: "react-router build" };
}

function remix(app: App, _manifest: Table | undefined, dependencies: Dependencies): FrameworkStart | undefined {
  if (!dependencies.has("@remix-run/serve")) {
    const isRemix = dependencies.has("@remix-run/dev") && !hasOwnServer(app);
    return isRemix ? blocked("Remix is built without a server; add the package @remix-run/serve.") : undefined;
  }
  const vite = configText(app, "vite.config") !== undefined;
  return vite
    ? { start: "remix-serve ./build/server/index.js", build: "remix vite:build" }
    : { start: "remix-serve build", build: "remix build" };
}

function astro(app: App, manifest: Table | undefined, dependencies: Dependencies): FrameworkStart | undefined {
  if (!dependencies.has("astro")) return undefined;
  if (!dependencies.has("@astrojs/node"))
    return astroDir(app, manifest, dependencies) === undefined
      ? blocked(
          "Astro renders its pages on a server of another platform; use the adapter @astrojs/node in astro.config instead.",
        )
      : undefined;
  return { start: "node ./dist/server/entry.mjs", build: "astro build" };
}

/** TanStack Start builds a handler; Nitro, or Vinxi in its first versions, adds the server. */
function tanstack(app: App, _manifest: Table | undefined, dependencies: Dependencies): FrameworkStart | undefined {
  if (!["@tanstack/react-start", "@tanstack/solid-start", "@tanstack/start"].some((name) => dependencies.has(name)))
    return undefined;
  const text = `${configText(app, "vite.config") ?? ""}\n${configText(app, "app.config") ?? ""}`;
  const serves =
    [...dependencies.keys()].some((name) => /^(nitro|nitropack|vinxi)$|nitro-v2/.test(name)) ||
    /nitro|vinxi/.test(text);
  if (serves || text.trim() === "") return { start: "node .output/server/index.mjs", build: null };
  return blocked(
    'TanStack Start is built without a server; add the package nitro, and nitro() from "nitro/vite" to the plugins of vite.config.',
  );
}

/** Frameworks whose server is Nitro's standard output. */
function nitro(_app: App, _manifest: Table | undefined, dependencies: Dependencies): FrameworkStart | undefined {
  const names = ["@solidjs/start", "nitropack", "nitro"];
  return names.some((name) => dependencies.has(name))
    ? { start: "node .output/server/index.mjs", build: null }
    : undefined;
}

const FRAMEWORKS: readonly Framework[] = [next, nuxt, sveltekit, nest, reactRouter, remix, astro, tanstack, nitro];

/** The start of the first framework that the app depends on, in the order of docs/detection.md, Start. */
export function frameworkStart(
  app: App,
  manifest: Table | undefined,
  dependencies: Dependencies,
): FrameworkStart | undefined {
  for (const framework of FRAMEWORKS) {
    const found = framework(app, manifest, dependencies);
    if (found !== undefined) return found;
  }
  return undefined;
}
