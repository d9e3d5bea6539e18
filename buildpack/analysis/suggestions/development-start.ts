import type { App } from "../app.ts";
import { type Diagnostics, quoted, suggest } from "../diagnostics.ts";

const START = "(?:^|[\\s\"'/;&|])";
const END = "(?=$|[\\s\"';&|])";
const at = (pattern: string): RegExp => new RegExp(`${START}(?:${pattern})${END}`);

/** Development commands, and what to start instead (docs/detection.md, Suggestions). */
const DEVELOPMENT: readonly [RegExp, string][] = [
  [at("next dev"), "next start after next build"],
  [/(?:^|[\s"'/;&|])next(?=\s*$)/, "next start after next build"],
  [at("(?:nuxt|nuxi) dev"), "node .output/server/index.mjs after nuxt build"],
  [
    at("vite(?: dev| serve)?(?! (?:build|preview|optimize))(?:\\s+-[^;&|]*)?(?=\\s*(?:$|[;&|\"']))"),
    "a server for the files that vite build writes",
  ],
  [at("astro dev"), "node ./dist/server/entry.mjs after astro build, or a server for the built files"],
  [at("ng (?:serve|s)"), "a server for the files that ng build writes"],
  [at("(?:react-scripts|craco|react-app-rewired) start"), "a server for the files that its build writes"],
  [at("vue-cli-service serve"), "a server for the files that vue-cli-service build writes"],
  [at("gatsby develop"), "a server for the files that gatsby build writes"],
  [
    at("webpack(?:-cli)? (?:serve|server)|webpack-dev-server"),
    "a server of your own for the files that webpack writes",
  ],
  [
    at(
      "(?:rsbuild|rspack|farm|vinxi|svelte-kit|solid-start|qwik|vitepress|waku) dev|(?:docusaurus|farm|expo) start|rspack serve",
    ),
    "the production build",
  ],
  [
    at(
      "(?:umi|max|sapper|quasar|rspress|dumi|vuepress|snowpack|turbo|turbo run|vercel|netlify|fumadocs|storybook) dev|(?:gridsome|gatsby) develop|(?:polymer|ionic|nx|honkit) serve|nx run \\S+:serve|preact watch|brunch (?:watch|w)|hexo (?:server|s)|wrangler (?:pages )?dev|(?:gulp|grunt) (?:dev|serve|watch|server)|start-storybook",
    ),
    "the files that its build writes",
  ],
  [
    at("(?:stencil build|rollup|tsc|esbuild) [^;&|]*--(?:watch|serve|dev)"),
    "the files that it writes without this option",
  ],
  [at("ember (?:serve|server|s)"), "a server for the files that ember build writes"],
  [at("eleventy [^;&|]*--serve"), "a server for the files that eleventy writes"],
  [/(?:^|[\s"'/;&|])parcel(?=$|\s)(?!\s+build)/, "a server for the files that parcel build writes"],
  [at("nodemon"), "node"],
  [at("ts-node-dev|tsnd"), "node, which runs TypeScript itself, or the compiled files"],
  [at("tsx (?:[^;&|]*)?watch|tsx [^;&|]*--watch"), "node, which runs TypeScript itself, or the compiled files"],
  [at("node [^;&|]*--watch(?:-path\\S*)?"), "node without --watch"],
  [at("bun [^;&|]*--(?:watch|hot)"), "the same command without this option"],
  [at("nest start [^;&|]*(?:--watch|-w|--debug)|nest start --watch"), "node dist/main after nest build"],
  [at("(?:remix|react-router) (?:vite:)?dev"), "the framework's own server after its build"],
  [at("strapi develop"), "strapi start after strapi build"],
  [at("live-server|browser-sync|lite-server"), "a server for production"],
  [at("flask (?:[^;&|]* )?run"), "gunicorn"],
  [at("manage\\.py runserver"), "gunicorn"],
  [at("(?:uvicorn|gunicorn|hypercorn|granian) [^;&|]*--reload"), "the same command without --reload"],
  [at("fastapi dev"), "fastapi run or uvicorn"],
];

/** Advises against a start command that is meant for development only; the app is still started with it. */
export function suggestDevelopmentStart(
  app: App,
  start: { line: string; file: string; declaredAt: number },
  diagnostics: Diagnostics,
): void {
  for (const [pattern, instead] of DEVELOPMENT) {
    const found = pattern.exec(start.line)?.[0];
    if (found === undefined) continue;
    const command = found.replace(/^[\s"'/;&|]+/, "").trim();
    suggest(diagnostics, app, {
      code: "development_start",
      message: `The start command ${quoted(start.line)} runs a development server (${command}). Start ${instead} instead.`,
      file: start.file,
      line: start.declaredAt,
    });
    return;
  }
}
