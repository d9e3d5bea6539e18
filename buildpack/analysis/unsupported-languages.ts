/** The manifests of languages that are not offered, by exact file name. */
const manifests: ReadonlyMap<string, string> = new Map([
  ["go.mod", "Go"],
  ["Gemfile", "Ruby"],
  ["config.ru", "Ruby"],
  ["pom.xml", "Java"],
  ["build.gradle", "Java"],
  ["build.gradle.kts", "Java"],
  ["settings.gradle", "Java"],
  ["settings.gradle.kts", "Java"],
  ["build.sbt", "Scala"],
  ["project.clj", "Clojure"],
  ["deps.edn", "Clojure"],
  ["Cargo.toml", "Rust"],
  ["composer.json", "PHP"],
  ["mix.exs", "Elixir"],
  ["rebar.config", "Erlang"],
  ["gleam.toml", "Gleam"],
  ["deno.json", "Deno"],
  ["deno.jsonc", "Deno"],
  ["deno.lock", "Deno"],
  ["Package.swift", "Swift"],
  ["pubspec.yaml", "Dart"],
  ["stack.yaml", "Haskell"],
  ["shard.yml", "Crystal"],
  ["CMakeLists.txt", "C++"],
  ["global.json", ".NET"],
  ["index.php", "PHP"],
]);

const PROJECT_FILES: readonly [RegExp, string][] = [
  [/\.(csproj|fsproj|vbproj|sln|slnx)$/, ".NET"],
  [/\.cabal$/, "Haskell"],
  [/\.rockspec$/, "Lua"],
];

/** The language that a file name declares, undefined for Node.js, Python and anything else. */
export function unsupportedLanguage(name: string): string | undefined {
  return manifests.get(name) ?? PROJECT_FILES.find(([pattern]) => pattern.test(name))?.[1];
}

const PROCFILE_PROGRAMS: readonly [RegExp, "nodejs" | "python" | string][] = [
  [
    /^(python[\d.]*|gunicorn|uvicorn|hypercorn|daphne|waitress-serve|uwsgi|flask|streamlit|fastapi|django-admin|chainlit|gradio|granian|sanic|litestar|quart|poetry|pipenv|uv|uvx|pdm|pip|celery|panel|voila|jupyter|newrelic-admin|manage\.py|[^/]+\.py)$/,
    "python",
  ],
  [
    /^(node|nodejs|npm|npx|yarn|yarnpkg|pnpm|pnpx|bun|bunx|next|nuxt|nuxi|nest|tsx|ts-node|serve|nodemon|pm2|pm2-runtime|forever|react-scripts|vite|astro|remix-serve|react-router-serve|http-server|cross-env|sails|strapi|babel-node|corepack|[^/]+\.(js|mjs|cjs|ts))$/,
    "nodejs",
  ],
  [/^(ruby|bundle|rails|puma|rackup|unicorn|thin|rake|passenger)$/, "Ruby"],
  [/^(java|mvn|mvnw|gradle|gradlew|catalina\.sh)$|\.jar$/, "Java"],
  [/^(php|heroku-php-.*|php-fpm)$/, "PHP"],
  [/^(mix|elixir|iex)$/, "Elixir"],
  [/^(dotnet)$/, ".NET"],
  [/^(deno)$/, "Deno"],
  [/^(go)$/, "Go"],
  [/^(cargo)$/, "Rust"],
  [/^(sbt|scala)$/, "Scala"],
  [/^(lein|clojure)$/, "Clojure"],
];

/** The language of the program that a Procfile starts: "nodejs", "python", another language's name, or undefined if unknown. */
export function languageOfProgram(program: string): string | undefined {
  const name = program.slice(program.lastIndexOf("/") + 1);
  return PROCFILE_PROGRAMS.find(([pattern]) => pattern.test(name))?.[1];
}

/** A site whose generator is not a Node.js or Python package, recognized by its files. */
export interface UnsupportedSite {
  generator: "Hugo" | "Jekyll" | "Zola";
  /** The configuration file that declares the site. */
  file: string;
  /** The folder that the generator writes. */
  output: string;
}

const HUGO = /^(config\/_default\/)?(hugo|config)\.(toml|ya?ml|json)$/;

/** The site that a folder contains, or undefined; `paths` are relative to the folder. */
export function unsupportedSite(
  paths: readonly string[],
  text: (path: string) => string | undefined,
): UnsupportedSite | undefined {
  const holds = (...folders: string[]) => paths.some((path) => folders.some((folder) => path.startsWith(`${folder}/`)));
  const jekyll = paths.find((path) => /^_config\.ya?ml$/.test(path));
  if (
    jekyll !== undefined &&
    (holds("_posts", "_layouts", "_includes") || paths.some((path) => /^index\.(md|markdown|html)$/.test(path)))
  )
    return { generator: "Jekyll", file: jekyll, output: "_site" };
  const file = paths.find((path) => HUGO.test(path));
  if (file === undefined) return undefined;
  if (file === "config.toml" && holds("content") && /^\s*base_url\s*=/m.test(text(file) ?? ""))
    return { generator: "Zola", file, output: "public" };
  return holds("content", "layouts", "archetypes", "themes")
    ? { generator: "Hugo", file, output: "public" }
    : undefined;
}
