import { expect, test } from "vitest";
import { analysisOf, errorOf } from "./tree.ts";

const start = { scripts: { start: "node server.js" } };

const sources = { "server.js": "", "dist/main.js": "", "app.py": "", "main.py": "" };

test.each([
  ["python app.py", "python"],
  ["gunicorn app:app", "python"],
  ["uvicorn main:app --port $PORT", "python"],
  ["FLASK_ENV=production flask run", "python"],
  ["python manage.py migrate && gunicorn a.wsgi", "python"],
  ["node server.js", "nodejs"],
  ["npm start", "nodejs"],
  ["yarn serve", "nodejs"],
  ["NODE_ENV=production node dist/main.js", "nodejs"],
])("a Procfile with web: %s makes the app %s", (command, language) => {
  const files = {
    Procfile: `worker: x\nweb: ${command}\n`,
    "package.json": start,
    "requirements.txt": "flask\n",
    ...sources,
  };
  expect(analysisOf(files).language).toBe(language);
});

test.each([
  "bundle exec puma",
  "ruby app.rb",
  "java -jar target/app.jar",
  "vendor/bin/heroku-php-apache2 public/",
  "php -S 0.0.0.0:$PORT",
  "java $JAVA_OPTS -jar a.jar",
])("a Procfile with web: %s is an error that names the language", (command) => {
  const { code, message } = errorOf({ Procfile: `web: ${command}`, "package.json": start });
  expect(code).toBe("unsupported_language");
  expect(message).toMatch(/Ruby|Java|PHP/);
});

test.each<[string, Record<string, string | object>, string]>([
  [
    "package.json with a start script beside Python",
    { "package.json": start, "server.js": "", "requirements.txt": "flask" },
    "nodejs",
  ],
  ["package.json without Python", { "package.json": { main: "server.js" }, "server.js": "" }, "nodejs"],
  [
    "requirements.txt beside a package.json without start",
    { "package.json": { scripts: { build: "tailwindcss" } }, "requirements.txt": "", "main.py": "" },
    "python",
  ],
  [
    "Django beside a Tailwind package.json",
    { "package.json": { devDependencies: { tailwindcss: "3" } }, "manage.py": "import django", "a/wsgi.py": "" },
    "python",
  ],
  ["a package.json with start beside go.mod", { "package.json": start, "server.js": "", "go.mod": "" }, "nodejs"],
  ["requirements.txt beside Gemfile", { "requirements.txt": "", Gemfile: "", "main.py": "" }, "python"],
  ["a bare main.py", { "main.py": "" }, "python"],
  ["any other Python source at the root", { "hello.py": "" }, "python"],
  ["a bare server.js", { "server.js": "" }, "nodejs"],
  ["a bare index.ts", { "index.ts": "" }, "nodejs"],
  [
    "a stray script beside a Node.js app without start",
    { "package.json": { main: "server.js" }, "server.js": "", "seed_one.py": "", "seed_two.py": "" },
    "nodejs",
  ],
])("%s is %s", (_, files, language) => {
  expect(analysisOf(files).language).toBe(language);
});

test.each([
  ["go.mod", "Go"],
  ["Gemfile", "Ruby"],
  ["pom.xml", "Java"],
  ["build.gradle", "Java"],
  ["build.gradle.kts", "Java"],
  ["Cargo.toml", "Rust"],
  ["composer.json", "PHP"],
  ["mix.exs", "Elixir"],
  ["deno.json", "Deno"],
  ["App.csproj", ".NET"],
])("%s is an error that names %s, also beside bare entry files", (manifest, language) => {
  for (const entry of ["README.md", "server.js", "main.py"]) {
    const { code, message } = errorOf({ [manifest]: "", [entry]: "" });
    expect(code).toBe("unsupported_language");
    expect(message).toContain(`${manifest} declares ${/^[AE]/.test(language) ? "an" : "a"} ${language} app`);
  }
});

test("another language's app with a package.json for its assets is that language's", () => {
  const assets = {
    private: true,
    scripts: { build: "vite build", dev: "vite" },
    devDependencies: { vite: "5", "laravel-vite-plugin": "1" },
  };
  expect(errorOf({ "composer.json": "{}", "package.json": assets }).message).toContain("PHP");
  expect(
    errorOf({ Gemfile: "", "config.ru": "", "package.json": { scripts: { build: "esbuild" } } }).message,
  ).toContain("Ruby");
});
