import { describe, expect, test } from "vitest";
import { analysisOf } from "./tree.ts";

type Files = Record<string, string | object>;
const found = (files: Files) =>
  analysisOf(files)
    .suggestions.filter(({ code }) => code === "undeclared_import")
    .map(({ file, line, message }) => [`${file}:${line}`, message]);
const manifest = (fields: object = {}) => ({ "package.json": { scripts: { start: "node server.js" }, ...fields } });

describe("Node.js", () => {
  test.each<[string, string, string]>([
    ["a require", "\nconst express = require('express')\n", "express"],
    ["a require that is taken apart", "\nconst { Pool } = require('pg');\n", "pg"],
    ["an import", "\nimport express from 'express'\n", "express"],
    [
      "an import of names",
      "import fs from 'node:fs'\nimport {\n  a,\n  b,\n} from '@acme/tools/deep'\n",
      "@acme/tools",
    ],
    ["an import for its effect", "\nimport 'dotenv/config'\n", "dotenv"],
    ["what is exported again", "\nexport * from 'lodash'\n", "lodash"],
  ])("%s of a package that no manifest declares", (_, source, name) => {
    expect(found({ ...manifest(), "server.js": source })).toEqual([
      [
        "server.js:2",
        `server.js imports ${name}, which no package.json of the app declares. Run npm install ${name}, and commit package.json.`,
      ],
    ]);
  });

  test("in a file that the entry imports, once", () => {
    const files = {
      "server.js": "import './db.js'\nimport './more.js'",
      "db.js": "import pg from 'pg'",
      "more.js": "import pg from 'pg'",
    };
    expect(found({ ...manifest({ packageManager: "pnpm@9.1.0" }), ...files })).toEqual([
      [
        "db.js:1",
        "db.js imports pg, which no package.json of the app declares. Run pnpm add pg, and commit package.json.",
      ],
    ]);
  });

  test.each<[string, Files]>([
    ["it is declared", { ...manifest({ dependencies: { express: "5" } }), "server.js": "import 'express'" }],
    [
      "it is declared for development",
      { ...manifest({ devDependencies: { express: "5" } }), "server.js": "import 'express'" },
    ],
    ["it is a peer", { ...manifest({ peerDependencies: { express: "5" } }), "server.js": "import 'express'" }],
    [
      "it is Node.js's own",
      { ...manifest(), "server.js": "import 'fs/promises'\nimport 'node:test'\nconst x = require('http')" },
    ],
    ["it is a file", { ...manifest(), "server.js": "import './x.js'\nimport '../y.js'\nimport '/z.js'", "x.js": "" }],
    [
      "it is an alias",
      {
        ...manifest(),
        "tsconfig.json": '{"compilerOptions": {"paths": {"@app/*": ["./src/*"]}}}',
        "server.js": "import '@app/db'\nimport '~/x'\nimport '@/y'\nimport '#z'",
      },
    ],
    ["it is a folder of the sources", { ...manifest(), "src/models/user.js": "", "server.js": "import 'models/user'" }],
    ["it is the app itself", { ...manifest({ name: "shop" }), "server.js": "import 'shop/config'" }],
    [
      "it is a workspace's package",
      {
        ...manifest({ workspaces: ["packages/*"] }),
        "packages/ui/package.json": { name: "@shop/ui" },
        "server.js": "import '@shop/ui'",
      },
    ],
    [
      "a manifest beside it declares it",
      {
        "package.json": { scripts: { start: "node api/server.js" } },
        "api/package.json": { dependencies: { express: "5" } },
        "api/server.js": "import 'express'",
      },
    ],
    [
      "only its types are imported",
      { ...manifest(), "server.js": "import type { Request } from 'express'\nexport type { Response } from 'express'" },
    ],
    [
      "it may fail",
      {
        ...manifest(),
        "server.js":
          "try {\n  require('bufferutil')\n} catch {}\nif (x) require('y')\nfunction f() { return import('z') }",
      },
    ],
    [
      "it is in a comment or a string",
      { ...manifest(), "server.js": "// import 'a'\n/*\nimport 'b'\n*/\nconst s = \"require('c')\"" },
    ],
    ["it is in a test", { ...manifest(), "server.js": "", "server.test.js": "import 'vitest'" }],
    [
      "a lock file brings it",
      {
        ...manifest(),
        "package-lock.json": '{"lockfileVersion": 3, "packages": {"": {}, "node_modules/ms": {"version": "2.1.3"}}}',
        "server.js": "import 'ms'",
      },
    ],
    ["aliases are made at run time", { ...manifest({ _moduleAliases: { "@x": "x" } }), "server.js": "import '@x/y'" }],
    ["Bun brings it", { ...manifest(), "server.js": "import { sql } from 'bun:sqlite'" }],
  ])("not where %s", (_, files) => {
    expect(found(files)).toEqual([]);
  });
});

describe("Python", () => {
  test.each<[string, Files, string, string]>([
    [
      "no manifest",
      { "main.py": "from fastapi import FastAPI\napp = FastAPI()\n" },
      "main.py:1",
      'Add the line "fastapi" to requirements.txt.',
    ],
    [
      "requirements.txt",
      {
        "app.py": "import os\nfrom flask import Flask\nimport redis\napp = Flask(__name__)\n",
        "requirements.txt": "flask\ngunicorn\n",
      },
      "app.py:3",
      'Add the line "redis" to requirements.txt.',
    ],
    [
      "a module that the entry imports",
      {
        "app.py": "from flask import Flask\nfrom db import pool\napp = Flask(__name__)\n",
        "db.py": "\nimport psycopg2\n",
        "requirements.txt": "flask\ngunicorn\n",
      },
      "db.py:2",
      'Add the line "psycopg2-binary" to requirements.txt.',
    ],
    [
      "another name",
      { "main.py": "from PIL import Image\n", "requirements/base.txt": "flask" },
      "main.py:1",
      'Add the line "pillow" to requirements/base.txt.',
    ],
    [
      "pyproject.toml",
      { "main.py": "import httpx\n", "pyproject.toml": '[project]\nname = "a"\n' },
      "main.py:1",
      "Run uv add httpx.",
    ],
    ["Pipfile", { "main.py": "import httpx\n", Pipfile: "[packages]\n" }, "main.py:1", "Run pipenv install httpx."],
    [
      "a Procfile's module",
      {
        Procfile: "web: gunicorn shop:app",
        "shop/__init__.py": "from sqlalchemy import select\n",
        "requirements.txt": "gunicorn\n",
      },
      "shop/__init__.py:1",
      'Add the line "sqlalchemy" to requirements.txt.',
    ],
  ])("an import of a package that is not in %s", (_, files, place, advice) => {
    expect(found(files)).toEqual([[place, expect.stringContaining(advice)]]);
  });

  test.each<[string, Files]>([
    [
      "it is declared under another name",
      { "main.py": "import cv2\nimport bs4\n", "requirements.txt": "opencv-contrib-python\nbeautifulsoup4\n" },
    ],
    ["another package brings it", { "main.py": "import sqlalchemy\n", "requirements.txt": "Flask-SQLAlchemy\n" }],
    [
      "a lock file holds it",
      {
        "main.py": "import httpx\n",
        "pyproject.toml": '[project]\nname="a"\n',
        "uv.lock": '[[package]]\nname = "httpx"\n',
      },
    ],
    ["it is Python's own", { "main.py": "import os, sys\nimport tomllib\n" }],
    [
      "it is a module of the app",
      { "main.py": "import redis\nfrom stripe import pay\n", "redis.py": "", "stripe/__init__.py": "" },
    ],
    [
      "it may fail",
      { "main.py": "try:\n    import redis\nexcept ImportError:\n    redis = None\ndef f():\n    import stripe\n" },
    ],
    [
      "only its types are imported",
      { "main.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import redis\n" },
    ],
    ["it is not known which package brings it", { "main.py": "import acme_tools\n" }],
    ["it is in a docstring", { "main.py": '"""\nimport redis\n"""\n' }],
    ["it is in a test", { "main.py": "", "test_main.py": "import redis\n" }],
    [
      "the server is added",
      { "app.py": "import uvicorn\nfrom fastapi import FastAPI\napp = FastAPI()\n", "requirements.txt": "fastapi\n" },
    ],
  ])("not where %s", (_, files) => {
    expect(found(files)).toEqual([]);
  });
});
