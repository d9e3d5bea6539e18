import { expect, test } from "vitest";
import { analysisOf, errorOf, outcomeOf } from "./tree.ts";

const node = { "package.json": { scripts: { start: "node server.js" } }, "server.js": "" };
const inFolder = (folder: string, files: Record<string, string | object>) =>
  Object.fromEntries(Object.entries(files).map(([path, content]) => [`${folder}/${path}`, content]));

test.each(["package.json", "requirements.txt", "Procfile", "server.js", "main.py", "pyproject.toml", "manage.py"])(
  "a %s at the top makes the top level the root",
  (marker) => {
    const text =
      { "package.json": '{"scripts":{"start":"node x.js"}}', Procfile: "web: node x.js", "manage.py": "django" }[
        marker
      ] ?? "";
    const outcome = outcomeOf({ "x.js": "", [marker]: text, "main.py": "", ...inFolder("web", node) });
    expect(outcome).toMatchObject({ ok: true, analysis: { plan: { root: "" } } });
  },
);

test("without a marker at the top, the only folder that holds one is the root", () => {
  expect(analysisOf({ "README.md": "", "docs/index.md": "", ...inFolder("web", node) }).plan.root).toBe("web");
  expect(analysisOf(inFolder("repo/web", node)).plan.root).toBe("repo/web");
});

test("several folders that hold one are an error that names them", () => {
  expect(
    errorOf({ "README.md": "", ...inFolder("web", node), ...inFolder("api", { "requirements.txt": "" }) }),
  ).toEqual({
    code: "several_apps",
    message:
      'Found apps in api, web; upload one of them. Or name it in a slipway.json at the top of the archive: {"rootDirectory":"api"}.',
  });
});

test("several folders are an error however deep they lie, what lies in an app or goes with it is none", () => {
  const web = inFolder("web", node);
  const api = { "package.json": "{}", "requirements.txt": "" };
  expect(errorOf({ ...web, ...inFolder("services/api", api) }).message).toBe(
    'Found apps in services/api, web; upload one of them. Or name it in a slipway.json at the top of the archive: {"rootDirectory":"services/api"}.',
  );
  expect(errorOf(inFolder("repo", { ...web, ...inFolder("services/api", api) })).code).toBe("several_apps");
  for (const folder of ["web/admin/site", "examples/shop", "docs/site", "tests/e2e", "infra/node_modules/a"]) {
    expect(analysisOf({ ...web, ...inFolder(folder, api) }).plan.root).toBe("web");
  }
  expect(analysisOf({ ...web, "infra/lambda/index.js": "" }).plan.root).toBe("web");
});

test("packages inside node_modules or a virtual environment are no apps", () => {
  expect(
    analysisOf({ ...inFolder("web", node), "node_modules/a/package.json": "{}", ".venv/lib/main.py": "" }).plan.root,
  ).toBe("web");
});

test("a stray script at the top does not hide the app below it, one that makes a web app is the app", () => {
  expect(analysisOf({ "deploy_notes.py": "print(1)", ...inFolder("web", node) }).plan.root).toBe("web");
  expect(
    analysisOf({ "site.py": "from flask import Flask\nsite = Flask(__name__)\n", ...inFolder("web", node) }),
  ).toMatchObject({
    language: "python",
    plan: { root: "" },
  });
});

test("an archive without an app is an error with the languages and the files", () => {
  const { code, message } = errorOf({ "README.md": "", "src/lib.rs": "", "index.html": "" });
  expect(code).toBe("nothing_detected");
  for (const part of ["Node.js", "Python", "README.md", "index.html", "src/lib.rs"]) expect(message).toContain(part);
  expect(errorOf({}).message).toContain("holds no files");
  expect(errorOf({ "a/package.json/b.txt": "" }).code).toBe("nothing_detected");
});

test("the leftovers of file managers are not seen", () => {
  const plain = outcomeOf(node);
  const junk = {
    "__MACOSX/._package.json": "x",
    ".DS_Store": "x",
    "._server.js": "x",
    "Thumbs.db": "",
    "desktop.ini": "",
    "src/.DS_Store": "",
  };
  expect(outcomeOf({ ...node, ...junk })).toEqual(plain);
  expect(errorOf(junk).code).toBe("nothing_detected");
});

test("an archive inside the archive is named, because it is not unpacked", () => {
  expect(errorOf({ "project/app.zip": "PK" })).toEqual({
    code: "nothing_detected",
    message:
      "No app was found: the upload contains only another archive, project/app.zip, which is not unpacked. Upload a zip of the app's own files.",
  });
});

test("names with line ends and marks that turn the text around stay on one line", () => {
  const { message } = errorOf({ "a\nb/package.json": "{}", "c\u202ed\u0007/package.json": "{}" });
  expect(message).toBe(
    'Found apps in a b, c d ; upload one of them. Or name it in a slipway.json at the top of the archive: {"rootDirectory":"a\\nb"}.',
  );
});

test("the scripts of a site of plain files are no server", () => {
  const { code, message } = errorOf({
    "site/index.html": "",
    "site/css/a.css": "",
    "site/js/main.js": "",
    "site/js/app.js": "",
  });
  expect(code).toBe("nothing_detected");
  expect(message).toContain(
    'To serve plain files such as site/index.html, put a package.json next to them: {"scripts": {"start": "serve ."}, "dependencies": {"serve": "14"}}.',
  );
  expect(analysisOf({ "public/js/app.js": "", "public/index.html": "", "api/server.js": "" }).plan.root).toBe("api");
});

test("a package that makes the application lies in the app's folder, it is not the app's folder itself", () => {
  const shop = { "shop/__init__.py": "from flask import Flask\napp = Flask(__name__)\n", "shop/views.py": "" };
  for (const folder of ["src", "repo/src"]) {
    const { plan } = analysisOf({ "README.md": "", ...inFolder(folder, shop) });
    expect([plan.root, plan.start]).toEqual([folder, "gunicorn --bind 0.0.0.0:$PORT shop:app"]);
  }
  expect(analysisOf({ "README.md": "", ...shop }).plan.root).toBe("");
  expect(analysisOf({ "README.md": "", ...inFolder("src", { ...shop, "shop/main.py": "import x\n" }) }).plan.root).toBe(
    "src/shop",
  );
});
