import { type App, rootFiles } from "../app.ts";
import { shellWord } from "../static-command.ts";
import { dependsOn } from "./dependencies.ts";
import { isSource } from "./main-file.ts";

/** Frameworks whose own command runs a page, and how it is recognized. */
const PAGES: readonly { framework: string; page: RegExp; names: readonly string[]; line: (file: string) => string }[] =
  [
    {
      framework: "streamlit",
      page: /^[ \t]*(import|from)\s+streamlit\b/m,
      names: ["streamlit_app.py", "app.py", "main.py", "Home.py", "home.py"],
      line: (file) => `streamlit run ${file} --server.address 0.0.0.0 --server.port $PORT --server.headless true`,
    },
    {
      framework: "chainlit",
      page: /^@(?:cl|chainlit)\.\w/m,
      names: ["chainlit_app.py", "app.py", "main.py"],
      line: (file) => `chainlit run ${file} --host 0.0.0.0 --port $PORT --headless`,
    },
  ];

/** The command of the framework that a page of the app is written for. */
export function pageStart(app: App, dependencies: ReadonlySet<string>): { line: string; file: string } | undefined {
  for (const { framework, page, names, line } of PAGES) {
    if (!dependsOn(dependencies, framework)) continue;
    const candidates = [
      ...names.filter((path) => app.has(path)),
      ...rootFiles(app).filter((path) => isSource(path) && !names.includes(path)),
      ...["src", "app"].flatMap((folder) => names.map((name) => `${folder}/${name}`)).filter((path) => app.has(path)),
    ];
    // A page that another application mounts under a path is not started by itself.
    if (candidates.some((path) => app.text(path)?.includes(`mount_${framework}(`))) continue;
    const file = candidates.find((path) => page.test(app.text(path) ?? ""));
    if (file !== undefined) return { line: line(shellWord(file)), file };
  }
  return undefined;
}
